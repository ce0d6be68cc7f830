// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/error.h"
#include "loop/mailbox.h"
#include "observe/access_record.h"
#include "observe/line_output.h"

namespace tinker::observe {

// The access log: a line a request, written in batches by a thread of its own.
//
// A full disk, a slow disk, or a FIFO that nobody reads costs lines, which are counted and complained of once a minute, and
// never a worker's time (cases.md S7). It goes on by itself when the disk or the reader is back.
//
// Owned by  Daemon.
// Thread    write() and reopen() from any; the file belongs to the thread `log`.
class AccessLog {
 public:
  // `path`: a file, a FIFO, or "-" for standard output. Errors: cannot be opened, and why.
  static base::Result<std::unique_ptr<AccessLog>> open(std::string path, std::size_t most_waiting = 65536);
  // Writes what waits, as far as it is taken within a quarter of a second.
  ~AccessLog();

  void write(AccessRecord record);
  // Opens the path anew before the next line: what a rotated log needs. Lines go to the old file until that is possible.
  void reopen();

  std::uint64_t written() const { return written_.load(std::memory_order_relaxed); }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  AccessLog(std::string path, std::size_t most_waiting);
  base::Result<void> open_output();
  void run();
  void reopen_output();
  void write_out(const std::string& lines, std::uint64_t count);
  void complain_of_drops();

  const std::string path_;
  loop::Mailbox<AccessRecord> waiting_;
  std::atomic<bool> reopen_{false};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> dropped_{0};
  Patience patience_;

  // Thread `log` only, once it runs.
  LineOutput output_;
  bool reopen_failed_ = false;
  std::uint64_t drops_told_ = 0;
  std::chrono::steady_clock::time_point told_;

  std::thread thread_;
};

}  // namespace tinker::observe
