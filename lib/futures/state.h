// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tinker::futures {

enum class State { queued, in_flight, completed, failed, delivered, confirmed };

}  // namespace tinker::futures
