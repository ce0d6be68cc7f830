// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/error.h"
#include "loop/handles.h"
#include "loop/mailbox.h"
#include "observe/access_record.h"

namespace tinker::observe {

// The access log: a line a request, written in batches by a thread of its own.
//
// A full disk, a slow disk, or a FIFO that nobody reads costs lines, which are counted, and never a worker's time (cases.md
// S7).
//
// Owned by  Daemon.
// Thread    write() and reopen() from any; the file belongs to the thread `log`.
class AccessLog {
 public:
  // `path`: a file, a FIFO, or "-" for standard output. Errors: cannot be opened, and why.
  static base::Result<std::unique_ptr<AccessLog>> open(std::string path, std::size_t most_waiting = 65536);
  // Writes what waits, for at most a quarter of a second.
  ~AccessLog();

  void write(AccessRecord record);
  // Opens the path anew before the next line: what a rotated log needs.
  void reopen();

  std::uint64_t written() const { return written_.load(std::memory_order_relaxed); }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  AccessLog(std::string path, std::size_t most_waiting);
  base::Result<void> open_file();
  void run();
  void write_out(const std::string& lines, std::uint64_t count);

  const std::string path_;
  loop::Mailbox<AccessRecord> waiting_;
  std::atomic<bool> reopen_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> dropped_{0};
  loop::FileDescriptor file_;  // thread `log` only, once it runs
  std::thread thread_;
};

}  // namespace tinker::observe
