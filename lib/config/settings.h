// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "config/setting.h"

namespace tinker::config {

// Every setting of tinkerd, once (lib/README.md, "Said once"). From a member come the flag, the key of tinkerd.toml, the
// environment variable, the range check, the error text, --help, the manual's table and `tinkerctl config`.
//
// Owned by  Daemon, for its whole life; handed to rooms by reference or as values.
// Thread    live settings may be read from any thread and are set from one.
struct Settings {
  Registry all;
  // members: see design.md §8 and issue
};

}  // namespace tinker::config
