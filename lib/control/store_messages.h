// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/inspect.h"
#include "tinkerd/control.pb.h"

namespace tinker::control {

// The store as control.proto shows it: by the daemon, and by tinkerctl from the file alone.
Store store_message(const store::StoreView& view, bool daemon_running);
SessionList session_list_message(const store::SessionList& sessions, bool daemon_running);

// How many sessions are listed when the request does not say.
inline constexpr std::size_t kDefaultLimit = 100;

}  // namespace tinker::control
