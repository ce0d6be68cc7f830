// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/child_program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/clock.h"

namespace tinker::load {
namespace {

constexpr base::Seconds kLook{0.02};
constexpr base::Seconds kStartPatience{30};
constexpr base::Seconds kEndPatience{10};

std::string whole(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Until `done` returns true; false when `patience` is over first.
bool wait_until(base::Seconds patience, const std::function<bool()>& done) {
  const base::SystemClock clock;
  const base::Monotonic began = clock.now();
  while (!done()) {
    if (clock.now() - began > patience) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

}  // namespace

base::Result<ChildProgram> ChildProgram::start(const std::string& log, const std::function<void()>& body) {
  const int parent = getpid();
  const int pid = fork();
  if (pid < 0) return base::fail(base::Code::internal, std::string("cannot start a process: ") + std::strerror(errno));
  if (pid > 0) return ChildProgram(pid, log);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  if (getppid() == parent) body();
  std::fflush(nullptr);
  _exit(0);
}

ChildProgram::ChildProgram(ChildProgram&& other) noexcept : pid_(std::exchange(other.pid_, 0)), log_(std::move(other.log_)) {}

ChildProgram::~ChildProgram() {
  if (pid_ == 0) return;
  kill(pid_, SIGTERM);
  if (wait_until(kEndPatience, [this] { return waitpid(pid_, nullptr, WNOHANG) != 0; })) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

base::Result<std::string> ChildProgram::wait_for_url(const std::function<bool()>& stopped) {
  static constexpr std::string_view kBefore = "listening on ";
  std::string url;
  const auto said = [&] {
    const std::string text = whole(log_);
    const std::size_t found = text.find(kBefore);
    const std::size_t end = text.find_first_of(" \n", found == std::string::npos ? found : found + kBefore.size());
    if (end == std::string::npos) return false;
    url = text.substr(found + kBefore.size(), end - found - kBefore.size());
    return true;
  };
  const bool in_time = wait_until(kStartPatience, [&] {
    if (said() || stopped()) return true;
    if (waitpid(pid_, nullptr, WNOHANG) == 0) return false;
    pid_ = 0;
    return true;
  });
  if (!url.empty() && pid_ != 0) return url;
  const char* what = stopped() ? "stopped before it listened" : in_time ? "ended at once" : "does not listen";
  return base::fail(base::Code::unavailable, std::string(what) + "; its last words: " + last_words());
}

std::string ChildProgram::last_words() const {
  std::string text = whole(log_);
  while (text.ends_with('\n')) text.pop_back();
  return text.empty() ? "(it wrote nothing)" : text.substr(text.rfind('\n') + 1);
}

std::string become(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return "cannot run " + command[0] + ": " + std::strerror(errno);
}

}  // namespace tinker::load
