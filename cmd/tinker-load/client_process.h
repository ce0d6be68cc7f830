// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "http/socket_address.h"
#include "loop/handles.h"
#include "tinker-load/load_options.h"

namespace tinker::load {

// A process that samples and writes messages (totals.h), a line each, into a pipe.
struct ClientProcess {
  int pid = 0;
  loop::FileDescriptor messages;  // to read
};

// Our own client, forked. Call it before threads and loops are made. The process ends at SIGINT or SIGTERM, after it has told
// what there is, and with its parent.
base::Result<ClientProcess> fork_client(const http::SocketAddress& server, const LoadOptions& options);

// Another program that writes messages to its standard output and takes its orders on standard input.
base::Result<ClientProcess> run_client(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                                       const std::string& input);

}  // namespace tinker::load
