// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/client_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "loop/open_files.h"
#include "tinker-load/child_program.h"
#include "tinker-load/client.h"
#include "tinker-load/stop_signals.h"

namespace tinker::load {
namespace {

constexpr base::Seconds kProgressEvery{0.25};

tl::unexpected<base::Error> failed(const char* what) {
  return base::fail(base::Code::internal, std::string(what) + ": " + std::strerror(errno));
}

// The parent reads until the end, so a line waits at most a moment.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the parent is gone
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sample(const http::SocketAddress& server, const LoadOptions& options, int messages) {
  loop::raise_open_files();
  loop::EventLoop loop("load");
  const StopSignals signals(loop);
  Client client(loop, server, options, [&] { loop.stop(); });
  loop::Timer progress(loop, [&] {
    write_all(messages, message_line({.progress = client.totals().ended(), .outstanding = client.outstanding()}));
    progress.after(kProgressEvery);
  });
  progress.after(kProgressEvery);
  client.start();
  loop.run();
  Message last{.totals = client.totals(), .fatal = client.fatal()};
  write_all(messages, message_line(last));
}

}  // namespace

base::Result<ClientProcess> fork_client(const http::SocketAddress& server, const LoadOptions& options) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return failed("cannot open a pipe");
  loop::FileDescriptor read_end(ends[0]);
  loop::FileDescriptor write_end(ends[1]);
  const int parent = getpid();
  const int pid = fork();
  if (pid < 0) return failed("cannot start a client process");
  if (pid > 0) return ClientProcess{pid, std::move(read_end)};
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent) sample(server, options, write_end.get());
  _exit(0);
}

base::Result<ClientProcess> run_client(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                                       const std::string& input) {
  int to_us[2];
  int to_it[2];
  if (pipe2(to_us, O_CLOEXEC) != 0) return failed("cannot open a pipe");
  loop::FileDescriptor our_read(to_us[0]);
  loop::FileDescriptor its_write(to_us[1]);
  if (pipe2(to_it, O_CLOEXEC) != 0) return failed("cannot open a pipe");
  loop::FileDescriptor its_read(to_it[0]);
  loop::FileDescriptor our_write(to_it[1]);
  const int pid = fork();
  if (pid < 0) return failed("cannot start a client process");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(its_read.get(), STDIN_FILENO);
    dup2(its_write.get(), STDOUT_FILENO);
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    write_all(STDOUT_FILENO, message_line({.fatal = become(command) + " (see --sdk-python)"}));
    _exit(127);
  }
  its_read.reset();
  write_all(our_write.get(), input);
  return ClientProcess{pid, std::move(our_read)};
}

}  // namespace tinker::load
