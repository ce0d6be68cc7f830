// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tinker-load/load_run.h"
#include "tinker-load/router.h"

namespace tinker::load {

std::string report_text(const RunOutcome& outcome);
std::string report_json(const RunOutcome& outcome);

// Servers that were measured side by side, by name; ratios are to the first.
using NamedOutcomes = std::vector<std::pair<std::string, RunOutcome>>;
std::string compare_text(const NamedOutcomes& outcomes);
std::string compare_json(const NamedOutcomes& outcomes);

std::string router_text(const RouterCounts& counts);
std::string router_json(const RouterCounts& counts);

}  // namespace tinker::load
