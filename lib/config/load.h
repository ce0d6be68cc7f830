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

// Reads all sources into `settings`, the weaker first: the file that --config names (or /etc/tinkerd/tinkerd.toml when it
// exists), overrides.toml of the state directory, the environment, the flags. CLI11 reads the flags and the TOML files.
//
// Returns Printed for --help and --version. Errors (invalid_argument, not_found) say which source, which setting, what is wrong
// and what is known: an unknown key of a file names the nearest known one.
base::Result<std::optional<Printed>> load(Settings& settings, int argc, const char* const* argv);

// The setting of that name. Errors: not_found with the nearest name.
base::Result<AnySetting*> find(const Settings& settings, std::string_view name);

// Sets a live setting. Errors: those of find(); invalid_argument for a setting that needs a restart, or a value
// out of range.
base::Result<AnySetting*> set_live(Settings& settings, std::string_view name, const std::string& value);

// Writes `setting` as it is into overrides.toml of the state directory, among those that are there: whole or not at all.
base::Result<void> persist(const Settings& settings, const AnySetting& setting);

// The commented sample of a configuration file, every setting with its help, range and default.
std::string sample_file(const Settings& settings);

}  // namespace tinker::config
