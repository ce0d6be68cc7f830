// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <memory>
#include <mutex>
#include <string>

#include "observe/line_output.h"

namespace tinker::observe {

// Sets up the daemon's diagnostics, spdlog's default logger: standard error, a line an event, through one thread with a bounded
// queue that drops the oldest, so that no worker waits for a slow reader. `level`: debug, info, warn, error.
void start_diagnostics(const std::string& level);

// Writes what is queued, as far as it is taken within a quarter of a second, and ends the thread.
void stop_diagnostics();

// Where the lines of an event go. Control characters become \xNN, so that no event can pass for two or steer a terminal.
//
// Thread    the one that logs; finish() from any.
class DiagnosticsSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // A line begins with the time and the level, or, for the systemd journal, which has its own time, with the level as it reads
  // it: "<4>" (sd-daemon(3)).
  enum class Form { plain, journal };
  DiagnosticsSink(LineOutput output, Form form);

  // From here on all waiting together is bounded.
  void finish() { patience_.finish(); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}

 private:
  const Form form_;
  LineOutput output_;
  Patience patience_;
};

}  // namespace tinker::observe
