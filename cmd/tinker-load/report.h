// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tinker-load/client.h"
#include "tinker-load/router.h"
#include "tinker-load/statistics.h"

namespace tinker::load {

// What a run of the client came to.
struct LoadReport {
  const Client& client;
  std::optional<ProcessUse> server;  // used during the run; absent without --server-pid
  double own_cpu_sec = 0;
};
std::string report_text(const LoadReport& report);
std::string report_json(const LoadReport& report);

std::string router_text(const RouterCounts& counts);
std::string router_json(const RouterCounts& counts);

}  // namespace tinker::load
