// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/all.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "loop/open_files.h"
#include "tinker-load/child_program.h"
#include "tinker-load/router_program.h"

namespace tinker::load {
namespace {

constexpr std::size_t kOtherFiles = 64;  // of the router, that are no connections

// A folder that goes with all that is in it.
class TemporaryFolder {
 public:
  static base::Result<TemporaryFolder> make() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "tinker-load-XXXXXX").string();
    if (error || mkdtemp(path.data()) == nullptr) {
      return base::fail(base::Code::unavailable, "cannot make a temporary folder " + path + ": " +
                                                     (error ? error.message() : std::strerror(errno)) + " (see TMPDIR)");
    }
    return TemporaryFolder(std::move(path));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

std::atomic<bool> stop_wanted = false;

// SIGINT and SIGTERM, while programs start and end: what was started must not stay behind.
class StopFlag {
 public:
  StopFlag() {
    stop_wanted = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { stop_wanted = true; };
    for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &action, &before_[i]);
  }
  ~StopFlag() {
    for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;

  static bool stopped() { return stop_wanted; }

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM};
  struct sigaction before_[std::size(kSignals)] = {};
};

std::string tinkerd_path(const AllOptions& options) {
  if (!options.tinkerd.empty()) return options.tinkerd;
  std::error_code error;
  const auto beside = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "tinkerd";
  return std::filesystem::exists(beside, error) ? beside.string() : "tinkerd";
}

base::Result<ChildProgram> start_router(const AllOptions& options, const std::string& log) {
  RouterOptions router = options.router;
  router.port = 0;
  router.output_tokens = options.run.load.output_tokens;
  router.body = options.run.load.body;
  return ChildProgram::start(log, [&] {
    if (const auto counts = run_router(router); !counts) std::fprintf(stderr, "%s\n", counts.error().text.c_str());
  });
}

// At most: which poll the SDK uses depends on its release.
std::size_t client_connections(const RunOptions& run) {
  const bool one_poll = run.client == ClientKind::native && run.load.poll == Poll::multi;
  return one_poll ? run.load.submit_concurrency + run.load.fetch_concurrency : run.load.most_outstanding();
}

std::vector<std::string> tinkerd_command(const AllOptions& options, const TemporaryFolder& folder, const std::string& router,
                                         std::size_t files) {
  const std::size_t connections = client_connections(options.run) + options.forwarding_max_connections;
  const std::size_t workers = options.workers > 0 ? options.workers : workers_for(connections, files);
  const std::string config = folder / "tinkerd.toml";
  const std::ofstream empty(config);
  return {tinkerd_path(options),
          "--config",
          config,
          "--host",
          "127.0.0.1",
          "--port",
          "0",
          "--base-model",
          options.run.load.base_model,
          "--upstream",
          router,
          "--workers",
          std::to_string(workers),
          "--state-dir",
          folder / "state",
          "--control-socket",
          folder / "control.sock",
          "--forwarding-inference-max-connections",
          std::to_string(options.forwarding_max_connections)};
}

}  // namespace

std::size_t workers_for(std::size_t connections, std::size_t files) {
  const std::size_t each = std::max<std::size_t>(1, files * 3 / 4);  // the kernel deals connections out unevenly
  const std::size_t processors = std::max<std::size_t>(1, std::thread::hardware_concurrency());
  return std::max(processors, (connections + each - 1) / each);
}

base::Result<RunOutcome> run_all(const AllOptions& options) {
  const StopFlag stop;
  const std::size_t files = loop::raise_open_files();
  if (options.forwarding_max_connections + kOtherFiles > files) {
    return base::fail(base::Code::invalid_argument, "--forwarding-max-connections " +
                                                        std::to_string(options.forwarding_max_connections) +
                                                        ": the router is one process, which may have " + std::to_string(files) +
                                                        " files open; use less, or raise the limit (ulimit -Hn)");
  }
  auto folder = TemporaryFolder::make();
  if (!folder) return tl::unexpected(folder.error());
  auto router = start_router(options, *folder / "router.log");
  if (!router) return tl::unexpected(router.error());
  const auto router_url = router->wait_for_url(&StopFlag::stopped);
  if (!router_url) return tl::unexpected(base::within("the router", router_url.error()));

  const auto command = tinkerd_command(options, *folder, *router_url, files);
  auto tinkerd = ChildProgram::start(*folder / "tinkerd.log", [&] { std::puts(become(command).c_str()); });
  if (!tinkerd) return tl::unexpected(tinkerd.error());
  const auto url = tinkerd->wait_for_url(&StopFlag::stopped);
  if (!url) return tl::unexpected(base::within(command.front(), url.error()));

  RunOptions run = options.run;
  run.url = *url;
  run.server_pid = tinkerd->pid();
  run.control_socket = *folder / "control.sock";
  auto outcome = run_load(run);
  if (!outcome && !runs(tinkerd->pid())) outcome.error().text += "; its last words: " + tinkerd->last_words();
  return outcome;
}

}  // namespace tinker::load
