// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "config/settings.h"

namespace tinker::config {

// What a file says of one setting: one text, or all of a list.
struct Entry {
  AnySetting* setting;
  std::vector<std::string> values;
  std::string where = "";  // "/etc/tinkerd/tinkerd.toml:7"
};

// Reads a TOML file of settings: keys at the top level with a string, a number, a boolean or an array of these, which is all of
// TOML that a setting needs. CLI11 2.1 reads TOML too, but ends a quoted string at '#', knows no escapes, and takes the second
// line of an array for a key.
//
// Errors (not_found when it cannot be opened, invalid_argument): file, line and what is wrong. An unknown key names the nearest
// that is known; a section, a key that stands twice and whatever else is no TOML are refused.
base::Result<std::vector<Entry>> read_toml(const Settings& settings, const std::string& path);

// "poll_hold_sec = 30", with quotes or brackets where TOML wants them; read_toml() reads it back.
std::string toml_line(const AnySetting& setting, const std::vector<std::string>& values);

}  // namespace tinker::config
