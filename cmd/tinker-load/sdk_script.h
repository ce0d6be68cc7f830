// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tinker::load {

// sdk_client.py.
extern const char* const kSdkScript;

}  // namespace tinker::load
