// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "config/settings.h"

namespace tinker::config {

// The texts that people read of the settings; each is made from their declarations alone.

// `tinkerd --help`, at most 80 columns wide.
std::string help_text(const Settings& settings);

// The entries of the manual's section SETTINGS, in troff's man macros.
std::string manual_entries(const Settings& settings);

// `tinkerd --example-config`: a configuration file with every setting at its default, commented out under its help.
std::string example_file(const Settings& settings);

}  // namespace tinker::config
