// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <utility>

namespace tinker::observe {

// A pipe of the smallest size, whose reader is the test. The writing end blocks, as a shell makes it.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) std::abort();
    ::fcntl(ends_[1], F_SETPIPE_SZ, 4096);
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    hang_up();
    ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int writer() const { return ends_[1]; }
  void hang_up() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }
  // Takes what is there.
  std::string read() const {
    std::string all;
    char part[4096];
    for (ssize_t got; (got = ::read(ends_[0], part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(got));
    return all;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// As the logging threads have it.
class WithoutSigpipe {
 public:
  WithoutSigpipe() : before_(std::signal(SIGPIPE, SIG_IGN)) {}
  ~WithoutSigpipe() { std::signal(SIGPIPE, before_); }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  void (*before_)(int);
};

}  // namespace tinker::observe
