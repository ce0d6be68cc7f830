// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/message.h>

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "control/calls.h"

namespace tinker::control {

// One call to the daemon over its control socket, waited for: tinkerctl's side.
//
// Errors: unavailable when no daemon answers on `socket` (the text says what to do), permission_denied when the socket is not
// the caller's, timed_out, and what the daemon refused with, its text unchanged.
base::Result<std::unique_ptr<google::protobuf::Message>> ask(const std::string& socket, const CallRow& row,
                                                             const google::protobuf::Message& request, base::Seconds patience);

}  // namespace tinker::control
