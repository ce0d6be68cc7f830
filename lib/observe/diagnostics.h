// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tinker::observe {

// Sets up the daemon's diagnostics, spdlog's default logger: standard error, a line an event, through one thread with a bounded
// queue that drops the oldest, so that no worker waits for a slow reader. Without a time under systemd, whose journal has its
// own. `level`: debug, info, warn, error.
void start_diagnostics(const std::string& level);

// Writes what is queued and ends the thread.
void stop_diagnostics();

}  // namespace tinker::observe
