// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnostics.h"

#include <spdlog/async.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

namespace tinker::observe {

void start_diagnostics(const std::string& level) {
  spdlog::init_thread_pool(8192, 1);
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto logger = std::make_shared<spdlog::async_logger>("tinkerd", std::move(sink), spdlog::thread_pool(),
                                                       spdlog::async_overflow_policy::overrun_oldest);
  logger->set_level(spdlog::level::from_str(level));
  logger->set_pattern(std::getenv("JOURNAL_STREAM") != nullptr ? "%l: %v" : "%Y-%m-%dT%H:%M:%S.%e %l: %v");
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

void stop_diagnostics() { spdlog::shutdown(); }

}  // namespace tinker::observe
