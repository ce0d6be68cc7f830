// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tinker::load {

// A program that runs beside the client. It is in a process group of its own, so that a Ctrl-C reaches it only through us, and
// ends with us.
//
// Owned by  run_all.
// Blocks    in its destructor, which ends the program and waits for it.
class ChildProgram {
 public:
  // Runs `body` in a new process; what it writes goes to the file `log`. Call it before threads and loops are made.
  static base::Result<ChildProgram> start(const std::string& log, const std::function<void()>& body);
  ChildProgram(ChildProgram&& other) noexcept;
  ChildProgram& operator=(ChildProgram&&) = delete;
  ~ChildProgram();

  int pid() const { return pid_; }
  // The URL in "listening on URL", which the program writes when it does. Waits for it until `stopped`; an Error has the last
  // line of the log.
  base::Result<std::string> wait_for_url(const std::function<bool()>& stopped);
  // The last line that it wrote.
  std::string last_words() const;

 private:
  ChildProgram(int pid, std::string log) : pid_(pid), log_(std::move(log)) {}

  int pid_;  // 0: ended and waited for
  std::string log_;
};

// Replaces this process by a program. Returns only when that fails, with why: "cannot run NAME: No such file or directory".
std::string become(const std::vector<std::string>& command);

}  // namespace tinker::load
