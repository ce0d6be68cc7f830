// SPDX-License-Identifier: Apache-2.0
#include "observe/access_log.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tinker::observe {
namespace {

constexpr base::Seconds kPatience{0.2};  // of a waiting thread, before it looks for a reopen
constexpr int kSlowWriteMs = 100;        // longest wait for a reader of a FIFO
constexpr std::size_t kBatchBytes = 1 << 18;

}  // namespace

AccessLog::AccessLog(std::string path, std::size_t most_waiting) : path_(std::move(path)), waiting_(most_waiting) {}

base::Result<std::unique_ptr<AccessLog>> AccessLog::open(std::string path, std::size_t most_waiting) {
  std::unique_ptr<AccessLog> log(new AccessLog(std::move(path), most_waiting));
  if (auto opened = log->open_file(); !opened) return tl::unexpected(opened.error());
  log->thread_ = std::thread([raw = log.get()] { raw->run(); });
  return log;
}

AccessLog::~AccessLog() {
  stopping_ = true;
  waiting_.close();
  if (thread_.joinable()) thread_.join();
}

void AccessLog::write(AccessRecord record) {
  if (!waiting_.try_push(std::move(record))) dropped_.fetch_add(1, std::memory_order_relaxed);
}

void AccessLog::reopen() { reopen_.store(true, std::memory_order_relaxed); }

// Never waits for a FIFO's reader: read-write opens one that has none (fifo(7)).
base::Result<void> AccessLog::open_file() {
  if (path_ == "-") {
    file_ = loop::FileDescriptor(dup(STDOUT_FILENO));
    return {};
  }
  loop::FileDescriptor file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0640));
  if (!file.valid() && errno == ENXIO)
    file = loop::FileDescriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) {
    return base::fail(base::Code::unavailable,
                      "cannot open the access log " + path_ + ": " + std::strerror(errno) + " (see access_log)");
  }
  file_ = std::move(file);
  return {};
}

void AccessLog::run() {
  pthread_setname_np(pthread_self(), "log");
  std::string lines;
  while (const auto records = waiting_.take_all(kPatience)) {
    if (reopen_.exchange(false, std::memory_order_relaxed) || !file_.valid()) (void)open_file();
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
  }
}

void AccessLog::write_out(const std::string& lines, std::uint64_t count) {
  std::size_t at = 0;
  while (file_.valid() && at < lines.size()) {
    const ssize_t put = ::write(file_.get(), lines.data() + at, lines.size() - at);
    if (put > 0) {
      at += static_cast<std::size_t>(put);
      continue;
    }
    if (put < 0 && errno == EINTR) continue;
    pollfd writable{.fd = file_.get(), .events = POLLOUT, .revents = 0};
    const bool slow = put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (!slow || stopping_ || ::poll(&writable, 1, kSlowWriteMs) <= 0) break;
  }
  const auto lost = static_cast<std::uint64_t>(std::count(lines.begin() + static_cast<std::ptrdiff_t>(at), lines.end(), '\n'));
  written_.fetch_add(count - lost, std::memory_order_relaxed);
  dropped_.fetch_add(lost, std::memory_order_relaxed);
  // Half a line would spoil the next one: it is ended where the file takes it.
  if (file_.valid() && at > 0 && at < lines.size() && lines[at - 1] != '\n') [[maybe_unused]]
    const ssize_t put = ::write(file_.get(), "\n", 1);
}

}  // namespace tinker::observe
