// SPDX-License-Identifier: Apache-2.0
#include "observe/line_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>
#include <utility>

namespace tinker::observe {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kEachWrite{100};
constexpr milliseconds kFinish{250};

milliseconds now() { return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace

void Patience::finish() { finish_by_ms_ = (now() + kFinish).count(); }

milliseconds Patience::left() const {
  const std::int64_t finish_by = finish_by_ms_.load();
  if (finish_by == 0) return kEachWrite;
  return std::clamp(milliseconds{finish_by} - now(), milliseconds{0}, kEachWrite);
}

LineOutput::LineOutput(loop::FileDescriptor file) : file_(std::move(file)) {
  struct stat about {};
  if (!file_.valid() || fstat(file_.get(), &about) != 0) return;
  socket_ = S_ISSOCK(about.st_mode);
  may_block_ = !socket_ && !S_ISREG(about.st_mode) && (fcntl(file_.get(), F_GETFL) & O_NONBLOCK) == 0;
}

// Opening a pipe or terminal anew gives a description of our own, on which O_NONBLOCK disturbs nobody. A file is shared as it
// is, with its position; a socket cannot be opened, and need not be (MSG_DONTWAIT).
LineOutput LineOutput::sharing(int descriptor) {
  struct stat about {};
  if (fstat(descriptor, &about) != 0) return {};
  if (!S_ISREG(about.st_mode) && !S_ISSOCK(about.st_mode)) {
    const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    loop::FileDescriptor own(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (own.valid()) return LineOutput(std::move(own));
  }
  return LineOutput(loop::FileDescriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 3)));
}

long LineOutput::put(std::string_view text) const {
  if (socket_) return ::send(file_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (!may_block_) return ::write(file_.get(), text.data(), text.size());
  pollfd writable{.fd = file_.get(), .events = POLLOUT, .revents = 0};
  if (::poll(&writable, 1, 0) > 0) return ::write(file_.get(), text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
  errno = EAGAIN;
  return -1;
}

std::uint64_t LineOutput::write(std::string_view lines, milliseconds patience) {
  if (!file_.valid()) return 0;
  if (torn_) {
    if (put("\n") != 1) {
      error_ = errno;
      return 0;
    }
    torn_ = false;
  }
  const milliseconds deadline = now() + patience;
  std::size_t at = 0;
  while (at < lines.size()) {
    const long taken = put(lines.substr(at));
    if (taken > 0) {
      at += static_cast<std::size_t>(taken);
      continue;
    }
    error_ = taken == 0 ? ENOSPC : errno;
    if (error_ == EINTR) continue;
    if (error_ != EAGAIN && error_ != EWOULDBLOCK) break;
    const milliseconds left = deadline - now();
    pollfd writable{.fd = file_.get(), .events = POLLOUT, .revents = 0};
    if (left <= milliseconds{0} || ::poll(&writable, 1, static_cast<int>(left.count())) == 0) break;
  }
  torn_ = at > 0 && lines[at - 1] != '\n';
  return static_cast<std::uint64_t>(std::count(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

const char* LineOutput::why() const {
  if (!file_.valid()) return "it is not open";
  if (error_ == 0) return "they came faster than they could be written";
  return error_ == EAGAIN || error_ == EWOULDBLOCK ? "nobody reads them" : std::strerror(error_);
}

}  // namespace tinker::observe
