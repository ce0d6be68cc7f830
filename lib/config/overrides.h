// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "config/settings.h"

namespace tinker::config {

// Where `tinkerctl config set --persist` keeps its values: overrides.toml in the state directory. It outranks the file, and is
// outranked by environment and flags.
std::string overrides_path(const Settings& settings);

// Sets a live setting. Errors: not_found with the nearest name; invalid_argument for a setting that needs a restart, or a value
// out of range.
base::Result<AnySetting*> set_live(Settings& settings, std::string_view name, const std::string& value);

// Writes `setting` as it is into overrides.toml, among those that are there: whole or not at all, also after a power cut.
//
// Errors: invalid_argument when a flag or the environment gave the setting, since it would be back after a restart, or when
// overrides.toml holds what cannot be read; unavailable when it cannot be written. The value is in force all the same.
base::Result<void> persist(const Settings& settings, const AnySetting& setting);

// Takes back what set_live() and persist() said of a live setting: the value of flag, environment, file or default is in force
// again, now and after a restart. Errors: those of set_live() and persist(); nothing changes then.
base::Result<AnySetting*> unset(Settings& settings, std::string_view name);

}  // namespace tinker::config
