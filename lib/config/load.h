// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "config/settings.h"

namespace tinker::config {

// What a command line asks for besides a running daemon: print this on standard output and exit with 0.
struct Printed {
  std::string text;
};

// Reads all sources into `settings`, of which the strongest is in force: the flags, the environment, overrides.toml of the
// state directory, the file that --config names (or /etc/tinkerd/tinkerd.toml when it exists). CLI11 reads the flags and the
// TOML files. A flag that is given twice holds as given last; one of a list adds to it.
//
// Returns Printed for --help, --version and --example-config. Errors (invalid_argument, not_found) say which source, which
// setting, what is wrong and what is known: an unknown key or flag names the nearest known one.
base::Result<std::optional<Printed>> load(Settings& settings, int argc, const char* const* argv);

}  // namespace tinker::config
