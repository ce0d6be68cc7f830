// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "loop/handles.h"

namespace tinker::observe {

// How long a logging thread waits for whoever reads its lines: a little for each write and, once it is told to finish, a little
// for all that are left. Any thread.
class Patience {
 public:
  void finish();
  bool finishing() const { return finish_by_ms_.load() != 0; }
  std::chrono::milliseconds left() const;

 private:
  std::atomic<std::int64_t> finish_by_ms_{0};  // of the steady clock; 0: no end in sight
};

// A file, pipe, terminal or socket that lines go to. A write never waits longer than it is told, whatever it is and whoever
// else writes there: a reader that stopped (cases.md S7), a terminal on hold, a full disk.
//
// Thread    the one that writes, with SIGPIPE blocked or ignored.
class LineOutput {
 public:
  LineOutput() = default;  // takes nothing
  explicit LineOutput(loop::FileDescriptor file);
  // One of the process's own descriptors, which stays as it is: other programs may share it, so O_NONBLOCK is not set on it.
  static LineOutput sharing(int descriptor);

  bool valid() const { return file_.valid(); }

  // Writes `lines`, each with its newline, and waits at most `patience` in all. Returns how many of the lines are there in
  // whole; why() then says what stopped it. A line that was begun is ended before the next write, so it spoils no other.
  std::uint64_t write(std::string_view lines, std::chrono::milliseconds patience);
  const char* why() const;

 private:
  // Bytes taken, or -1 and errno.
  long put(std::string_view text) const;

  loop::FileDescriptor file_;
  bool socket_ = false;
  bool may_block_ = false;  // could not be made to refuse instead
  bool torn_ = false;       // the last byte that was taken is not the end of a line
  int error_ = 0;
};

}  // namespace tinker::observe
