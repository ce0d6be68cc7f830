// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "base/error.h"
#include "tinker-load/load_run.h"
#include "tinker-load/router.h"

namespace tinker::load {

// A whole set-up on this machine.
struct AllOptions {
  RunOptions run;                                 // its URL, process and control socket are those of the daemon that is started
  RouterOptions router;                           // its port, tokens and form of bodies are found
  std::size_t workers = 0;                        // of tinkerd; 0: as many as there are processors, or as the connections need
  std::size_t forwarding_max_connections = 2048;  // of tinkerd to the router
  std::string tinkerd;                            // empty: beside this program, else in PATH
};

// Starts a router and a tinkerd in a temporary folder, samples through them, and ends them. Settings of tinkerd that are given
// as TINKERD_… in the environment hold; its configuration file is not read.
base::Result<RunOutcome> run_all(const AllOptions& options);

// How many event loops tinkerd needs to hold `connections` when each may have `files` open.
std::size_t workers_for(std::size_t connections, std::size_t files);

}  // namespace tinker::load
