// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tinker-load/report.h"

namespace tinker::load {

// A server that is measured beside others.
struct NamedServer {
  std::string name;
  std::string url;
  int pid = 0;                 // RunOptions::server_pid
  std::string control_socket;  // RunOptions::control_socket
};

struct CompareOptions {
  RunOptions run;  // of each server in each round; without what NamedServer has
  std::vector<NamedServer> servers;
  std::size_t rounds = 3;
};

// Samples from one server after the other, round after round, so that what the machine does besides meets all alike. Rounds
// begin with another server in turn. SIGINT and SIGTERM end it with what there is.
base::Result<NamedOutcomes> run_compare(const CompareOptions& options);

// The servers of "NAME=URL" texts with the "NAME=PID" and "NAME=PATH" texts that belong to them.
base::Result<std::vector<NamedServer>> read_servers(const std::vector<std::string>& urls, const std::vector<std::string>& pids,
                                                    const std::vector<std::string>& control_sockets);

}  // namespace tinker::load
