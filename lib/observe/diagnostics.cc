// SPDX-License-Identifier: Apache-2.0
#include "observe/diagnostics.h"

#include <pthread.h>
#include <spdlog/async.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace tinker::observe {
namespace {

constexpr std::size_t kMostQueued = 8192;

std::shared_ptr<DiagnosticsSink> running;  // from start_diagnostics() to stop_diagnostics()

// Whether standard error is the journal's stream: a child with another one inherits the variable, too (systemd.exec(5)).
bool is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat about {};
  return stream != nullptr && fstat(STDERR_FILENO, &about) == 0 &&
         stream == std::to_string(about.st_dev) + ":" + std::to_string(about.st_ino);
}

// syslog(3)'s severity.
char severity(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::critical:
      return '2';
    case spdlog::level::err:
      return '3';
    case spdlog::level::warn:
      return '4';
    case spdlog::level::info:
      return '6';
    case spdlog::level::debug:
    case spdlog::level::trace:
    case spdlog::level::off:
    case spdlog::level::n_levels:
      return '7';
  }
  __builtin_unreachable();
}

void append_printable(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != 0x7F) {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
}

}  // namespace

DiagnosticsSink::DiagnosticsSink(LineOutput output, Form form) : form_(form), output_(std::move(output)) {
  set_pattern_(form == Form::journal ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %l: %v");
}

void DiagnosticsSink::sink_it_(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t text;
  formatter_->format(message, text);
  std::string_view event(text.data(), text.size());
  if (event.ends_with('\n')) event.remove_suffix(1);
  std::string line;
  if (form_ == Form::journal) line += {'<', severity(message.level), '>'};
  append_printable(event, line);
  line += '\n';
  output_.write(line, patience_.left());
}

void start_diagnostics(const std::string& level) {
  spdlog::init_thread_pool(kMostQueued, 1, [] {
    pthread_setname_np(pthread_self(), "diag");
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
  });
  const auto form = is_journal() ? DiagnosticsSink::Form::journal : DiagnosticsSink::Form::plain;
  running = std::make_shared<DiagnosticsSink>(LineOutput::sharing(STDERR_FILENO), form);
  auto logger = std::make_shared<spdlog::async_logger>("tinkerd", running, spdlog::thread_pool(),
                                                       spdlog::async_overflow_policy::overrun_oldest);
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

void stop_diagnostics() {
  if (running) running->finish();
  spdlog::shutdown();
  running.reset();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("stopped"));  // a late event goes nowhere
}

}  // namespace tinker::observe
