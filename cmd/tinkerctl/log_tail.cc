// SPDX-License-Identifier: Apache-2.0
#include "tinkerctl/log_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <thread>
#include <utility>

#include "control/client.h"
#include "loop/handles.h"
#include "observe/access_record.h"
#include "tinkerctl/exit_code.h"

namespace tinker::ctl {
namespace {

using base::Code;
using base::fail;

constexpr std::chrono::milliseconds kLookAgain{200};

// A line that is shown, as it stands or as JSON.
void show_line(const std::string& line, const observe::AccessRecord& record, bool json) {
  if (!json) {
    std::printf("%s\n", line.c_str());
    return;
  }
  control::AccessLine message;
  message.set_time(line.substr(0, line.find(' ')));
  message.set_client(record.client);
  message.set_method(record.method);
  message.set_path(record.path);
  message.set_status(record.status);
  message.set_bytes_in(static_cast<std::int64_t>(record.bytes_in));
  message.set_bytes_out(static_cast<std::int64_t>(record.bytes_out));
  message.set_ms(record.milliseconds);
  message.set_request_id(record.request_id);
  std::printf("%s\n", control::to_json(message).c_str());
}

// Reads a growing file line by line and notices when another one stands in its place.
class GrowingFile {
 public:
  static base::Result<GrowingFile> open(const std::string& path) {
    GrowingFile file(path);
    if (!file.open_again()) return fail(Code::not_found, "cannot open the access log " + path + ": " + std::strerror(errno));
    return file;
  }

  // Hands each whole line that is there to `take`.
  void read(const std::function<void(const std::string&)>& take) {
    char buffer[1 << 16];
    for (ssize_t got; (got = ::read(fd_.get(), buffer, sizeof buffer)) > 0;) {
      rest_.append(buffer, static_cast<std::size_t>(got));
      std::size_t begin = 0;
      for (std::size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1)
        take(rest_.substr(begin, end - begin));
      rest_.erase(0, begin);
    }
  }

  // After a rotation or a truncation: from the start of what is there now.
  void follow_rotation() {
    struct stat there {};
    struct stat here {};
    if (stat(path_.c_str(), &there) != 0 || fstat(fd_.get(), &here) != 0) return;
    const bool other = there.st_ino != here.st_ino || there.st_dev != here.st_dev;
    const bool shorter = lseek(fd_.get(), 0, SEEK_CUR) > here.st_size;
    if (other || shorter) open_again();
  }

 private:
  explicit GrowingFile(std::string path) : path_(std::move(path)) {}
  bool open_again() {
    loop::FileDescriptor fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return false;
    fd_ = std::move(fd);
    rest_.clear();
    return true;
  }

  std::string path_;
  loop::FileDescriptor fd_;
  std::string rest_;  // of a line whose end is not written yet
};

}  // namespace

LogTail::LogTail(CLI::App& parent)
    : app_(group_of(parent, "log tail").add_subcommand("tail", "Shows the end of the access log.")) {
  app_->add_flag("-f,--follow", follow_, "go on as the log grows, also when it is rotated");
  app_->add_option("-n,--lines", lines_, "how many of the lines that are there")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  app_->add_option("--status", status_, "only this status: 500, 5xx or >=400");
  app_->add_option("--path", path_, "only paths that begin so");
  app_->add_option("--slow", slow_ms_, "only exchanges of at least so many milliseconds");
  app_->add_option("--file", file_, "the log's file; the running daemon's when absent");
}

base::Result<std::string> LogTail::file(const Common& common) const {
  if (!file_.empty()) return file_;
  for (const control::CallRow& row : control::calls()) {
    if (row.method->name() != "GetStatus") continue;
    const auto reply = control::ask(common.socket, row, control::GetStatusRequest{}, base::Seconds{common.timeout_sec});
    if (!reply) return tl::unexpected(reply.error());
    const std::string path = static_cast<const control::Status&>(**reply).access_log();
    if (path.empty() || path == "-") {
      return fail(Code::not_found, path.empty() ? "tinkerd writes no access log (see the setting access_log)"
                                                : "tinkerd writes its access log to standard output; name a file with --file");
    }
    return path;
  }
  return fail(Code::internal, "control.proto has no GetStatus");
}

int LogTail::run(const Common& common) const {
  observe::AccessFilter filter{.path_prefix = path_};
  if (slow_ms_ > 0) filter.slower_than_ms = slow_ms_;
  if (!status_.empty()) {
    if (auto read = observe::read_status(status_, filter); !read) {
      complain(read.error());
      return kUsage;
    }
  }
  const auto path = file(common);
  if (!path) return complain(path.error());
  auto growing = GrowingFile::open(*path);
  if (!growing) return complain(growing.error());

  const auto wanted = [&](const std::string& line) -> std::optional<observe::AccessRecord> {
    auto record = observe::parse_line(line);
    return record && filter.takes(*record) ? std::optional(std::move(*record)) : std::nullopt;
  };
  std::deque<std::pair<std::string, observe::AccessRecord>> last;
  growing->read([&](const std::string& line) {
    auto record = wanted(line);
    if (!record) return;
    last.emplace_back(line, std::move(*record));
    if (last.size() > static_cast<std::size_t>(lines_)) last.pop_front();
  });
  for (const auto& [line, record] : last) show_line(line, record, common.json);
  std::fflush(stdout);
  while (follow_ && std::ferror(stdout) == 0) {
    growing->read([&](const std::string& line) {
      if (const auto record = wanted(line)) show_line(line, *record, common.json);
    });
    std::fflush(stdout);
    growing->follow_rotation();
    std::this_thread::sleep_for(kLookAgain);
  }
  return kOk;
}

}  // namespace tinker::ctl
