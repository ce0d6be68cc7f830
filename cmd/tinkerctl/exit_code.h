// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"

namespace tinker::ctl {

// What scripts can rely on; documented in tinkerctl(1).
enum ExitCode : int {
  kOk = 0,
  kFailed = 1,      // the daemon refused or failed the call
  kUsage = 2,       // the command line is wrong
  kNotRunning = 3,  // no daemon answers on the socket
  kNotAllowed = 4,  // the socket or the call is not the caller's
  kNotFound = 5,    // no such future, setting …
  kTimedOut = 6,    // the daemon did not answer in time
};

inline ExitCode exit_code(base::Code code) {
  switch (code) {
    case base::Code::unavailable:
      return kNotRunning;
    case base::Code::permission_denied:
      return kNotAllowed;
    case base::Code::not_found:
    case base::Code::gone:
      return kNotFound;
    case base::Code::timed_out:
      return kTimedOut;
    case base::Code::invalid_argument:
    case base::Code::unprocessable:
    case base::Code::method_not_allowed:
    case base::Code::conflict:
    case base::Code::too_large:
    case base::Code::unsupported_media:
    case base::Code::too_early:
    case base::Code::exhausted:
    case base::Code::internal:
      return kFailed;
  }
  return kFailed;
}

}  // namespace tinker::ctl
