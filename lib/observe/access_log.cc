// SPDX-License-Identifier: Apache-2.0
#include "observe/access_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace tinker::observe {
namespace {

constexpr base::Seconds kLookForReopen{0.2};
constexpr std::chrono::milliseconds kGather{10};  // written together: saves 5 to 9 us of CPU a line at 10,000 lines/s
constexpr std::chrono::minutes kBetweenComplaints{1};
constexpr std::size_t kBatchBytes = 1 << 18;

// Never waits for a FIFO's reader: read-write opens one that has none (fifo(7)).
loop::FileDescriptor open_path(const std::string& path) {
  loop::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640));
  if (!file.valid() && errno == ENXIO)
    file = loop::FileDescriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  return file;
}

}  // namespace

AccessLog::AccessLog(std::string path, std::size_t most_waiting) : path_(std::move(path)), waiting_(most_waiting) {}

base::Result<std::unique_ptr<AccessLog>> AccessLog::open(std::string path, std::size_t most_waiting) {
  std::unique_ptr<AccessLog> log(new AccessLog(std::move(path), most_waiting));
  if (auto opened = log->open_output(); !opened) return tl::unexpected(opened.error());
  log->thread_ = std::thread([raw = log.get()] { raw->run(); });
  return log;
}

AccessLog::~AccessLog() {
  patience_.finish();
  waiting_.close();
  if (thread_.joinable()) thread_.join();
}

void AccessLog::write(AccessRecord record) {
  if (!waiting_.try_push(std::move(record))) dropped_.fetch_add(1, std::memory_order_relaxed);
}

void AccessLog::reopen() { reopen_.store(true, std::memory_order_relaxed); }

base::Result<void> AccessLog::open_output() {
  LineOutput output = path_ == "-" ? LineOutput::sharing(STDOUT_FILENO) : LineOutput(open_path(path_));
  if (!output.valid()) {
    return base::fail(base::Code::unavailable,
                      "cannot open the access log " + path_ + ": " + std::strerror(errno) + " (see access_log)");
  }
  output_ = std::move(output);
  return {};
}

void AccessLog::run() {
  pthread_setname_np(pthread_self(), "log");
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);  // signals are for main; a reader that left is EPIPE
  std::string lines;
  while (const auto records = waiting_.take_all(kLookForReopen)) {
    if (reopen_.load(std::memory_order_relaxed)) reopen_output();
    std::uint64_t count = 0;
    for (const AccessRecord& record : *records) {
      append_line(record, lines);
      ++count;
      if (lines.size() < kBatchBytes) continue;
      write_out(lines, std::exchange(count, 0));
      lines.clear();
    }
    if (count > 0) write_out(lines, count);
    lines.clear();
    complain_of_drops();
    if (!records->empty() && !patience_.finishing()) std::this_thread::sleep_for(kGather);
  }
}

void AccessLog::reopen_output() {
  reopen_.store(false, std::memory_order_relaxed);
  const auto opened = open_output();
  if (opened) {
    reopen_failed_ = false;
    return;
  }
  if (!reopen_failed_) spdlog::warn("{}; lines go to the file that was open, and it is tried again", opened.error().text);
  reopen_failed_ = true;
  reopen_.store(true, std::memory_order_relaxed);
}

void AccessLog::write_out(const std::string& lines, std::uint64_t count) {
  const std::uint64_t whole = output_.write(lines, patience_.left());
  written_.fetch_add(whole, std::memory_order_relaxed);
  dropped_.fetch_add(count - whole, std::memory_order_relaxed);
}

void AccessLog::complain_of_drops() {
  const std::uint64_t dropped = dropped_.load(std::memory_order_relaxed);
  if (dropped == drops_told_) return;
  const auto now = std::chrono::steady_clock::now();
  if (drops_told_ != 0 && now - told_ < kBetweenComplaints) return;
  spdlog::warn("access log {}: {} lines were dropped: {}", path_, dropped - drops_told_, output_.why());
  drops_told_ = dropped;
  told_ = now;
}

}  // namespace tinker::observe
