// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "control/dispatcher.h"
#include "control/house.h"
#include "http/server.h"

namespace tinker::control {

// The control socket: HTTP/1.1 on a Unix socket that the operators' group may connect to.
//
// Owned by  Daemon.
// Thread    that of House::loop.
class ControlServer {
 public:
  // Errors: those of http::Server::listen; a call of control.proto without a handler is a fault of ours and is named.
  static base::Result<std::unique_ptr<ControlServer>> listen(House& house, const std::string& socket);

 private:
  explicit ControlServer(House& house);
  House& house_;
  Dispatcher dispatcher_;
  std::unique_ptr<http::Server> server_;
};

// The handlers, a file a group of calls.
void add_daemon_calls(Dispatcher& dispatcher, House& house);
void add_store_calls(Dispatcher& dispatcher, House& house);
void add_futures_calls(Dispatcher& dispatcher, House& house);
void add_config_calls(Dispatcher& dispatcher, House& house);

// Fills in how many live samples each session of the list has.
void add_live_samples(SessionList& list, const House& house);

}  // namespace tinker::control
