// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "http/socket_address.h"
#include "tinker-load/load_options.h"
#include "tinker-load/process_use.h"
#include "tinker-load/totals.h"

namespace tinker::load {

// Samples in flight of one process, with a connection each: below the 14,000 ports of a source address that the kernel looks at
// first. Beyond those it searches: with 16,384 a sample cost the client 350 us instead of 100, and the slowest submits took
// 1.3 s instead of 0.14.
inline constexpr std::size_t kConnectionsPerProcess = 12'288;

enum class ClientKind { native, sdk };

// Who samples and what is watched meanwhile.
struct RunOptions {
  LoadOptions load;
  ClientKind client = ClientKind::native;
  std::size_t processes = 0;  // 0: as many as --max-outstanding needs
  std::string sdk_python = "python3";
  std::string url = "http://127.0.0.1:8000";
  int server_pid = 0;          // whose CPU and memory are reported; 0: nobody's
  std::string control_socket;  // of the daemon whose connections are counted; empty: nobody's
};

// What a run came to.
struct RunOutcome {
  LoadTotals totals;
  double seconds = 0;
  Histogram health_times;
  std::uint64_t healthz_failed = 0;
  std::optional<ProcessUse> server;  // during the run
  std::optional<std::uint64_t> server_peak_connections;
  double own_cpu_sec = 0;  // of the clients
  bool stopped = false;    // by SIGINT or SIGTERM

  // Another run with the same options.
  void add(const RunOutcome& other);
};

// Samples with client processes; shows progress while standard error is a terminal. SIGINT and SIGTERM end the run early, with
// what there is. Errors: the URL, no server there, no such process, a server process that ended.
base::Result<RunOutcome> run_load(const RunOptions& options);

}  // namespace tinker::load
