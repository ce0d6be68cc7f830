// SPDX-License-Identifier: Apache-2.0
#include "daemon/daemon.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>
#include <utility>

#include "daemon/signals.h"
#include "futures/numbers.h"
#include "loop/open_files.h"

namespace tinker::daemon {
namespace {

using base::Code;
using base::fail;

// SIGTERM ends the daemon within a second (cases.md S5): this is for answers that are still being written.
constexpr base::Seconds kLastAnswers{0.6};
constexpr base::Seconds kExpiry{1};

base::Result<void> make_directory(const std::string& path, const char* setting) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(Code::unavailable, "cannot create " + path + ": " + error.message() + " (see " + setting + ")");
  if (access(path.c_str(), W_OK) != 0) {
    return fail(Code::permission_denied, "cannot write in " + path + ": " + std::strerror(errno) +
                                             " (is the daemon running as the right user? see " + setting + ")");
  }
  return {};
}

// Clones of a sampling client that joined an earlier run go on sampling: numbers that begin anywhere do not meet theirs.
std::int64_t first_client_counter() { return static_cast<std::int64_t>(std::random_device{}()); }

std::size_t worker_count(const config::Settings& settings) {
  const auto wanted = static_cast<std::size_t>(settings.workers.get());
  return wanted > 0 ? wanted : std::max<std::size_t>(1, std::thread::hardware_concurrency());
}

std::string default_database_url(const std::string& state_dir) {
  return "sqlite:///" + std::filesystem::absolute(state_dir).lexically_normal().string() + "/tinker.db";
}

}  // namespace

Daemon::Daemon(config::Settings& settings)
    : settings_(settings),
      loop_("tinkerd"),
      expiry_timer_(loop_, [this] { expire(); }),
      table_(futures::first_number_of(clock_.wall()), static_cast<std::size_t>(settings.max_outstanding.get())),
      crew_(worker_count(settings)),
      loops_ended_(static_cast<std::ptrdiff_t>(crew_.size())) {}

base::Result<std::unique_ptr<Daemon>> Daemon::make(config::Settings& settings) {
  if (settings.base_model.get().empty()) {
    return fail(Code::invalid_argument,
                "base_model is not set: name the model that the upstream serves, e.g. --base-model Qwen/Qwen3-8B");
  }
  std::unique_ptr<Daemon> daemon(new Daemon(settings));
  umask(0027);
  for (const auto& step :
       {&Daemon::start_workers, &Daemon::open_store, &Daemon::find_upstreams, &Daemon::open_control, &Daemon::listen}) {
    if (auto done = (daemon.get()->*step)(); !done) return tl::unexpected(done.error());
  }
  return daemon;
}

Daemon::~Daemon() {
  for (const auto& worker : workers_) worker->stop_now();
  for (const auto& worker : workers_) worker->join();
  // What posts to loops goes before the loops.
  control_.reset();
  aside_.reset();
  if (upstreams_) upstreams_->stop();  // there are none when the store could not be opened
  db_.reset();
  workers_.clear();
}

// All loops before the first thread, all threads before anything else is opened: see Worker.
base::Result<void> Daemon::start_workers() {
  const std::size_t files = loop::raise_open_files();
  for (std::uint32_t number = 0; number < crew_.size(); ++number)
    workers_.push_back(std::make_unique<Worker>(number, loops_ended_));
  std::size_t apart = 0;
  for (const auto& worker : workers_) apart += worker->start() ? 1 : 0;
  files_per_worker_ = apart == workers_.size() ? files : files / workers_.size();
  spdlog::info("{} workers, each with at most {} files open at once, of which each connection is one", workers_.size(),
               files_per_worker_);
  if (apart < workers_.size()) {
    spdlog::warn(
        "the workers share one limit on open files: the kernel refuses unshare(CLONE_FILES), as a container's seccomp profile "
        "does; raise the limit (LimitNOFILE=, ulimit -n) if clients are kept waiting");
  }
  return {};
}

base::Result<void> Daemon::open_store() {
  const std::string& state_dir = settings_.state_dir.get();
  if (auto made = make_directory(state_dir, "state_dir"); !made) return made;
  const std::string& url = settings_.database_url.get();
  auto db = store::TinkerDb::open(url.empty() ? default_database_url(state_dir) : url, clock_);
  if (!db) return tl::unexpected(db.error());
  db_ = std::move(*db);

  const std::string& log = settings_.access_log.get();
  if (log.empty()) return {};
  auto opened = observe::AccessLog::open(log);
  if (!opened) return tl::unexpected(opened.error());
  access_log_ = std::move(*opened);
  return {};
}

base::Result<void> Daemon::find_upstreams() {
  std::vector<forward::UpstreamUrl> fixed;
  for (const std::string& text : settings_.upstream.get()) {
    auto url = forward::UpstreamUrl::parse(text);
    if (!url) return tl::unexpected(base::within("upstream", url.error()));
    fixed.push_back(std::move(*url));
  }
  if (!fixed.empty()) {
    upstreams_ = std::make_unique<forward::Upstreams>(std::move(fixed));
    return {};
  }
  upstreams_ = std::make_unique<forward::Upstreams>(
      forward::Upstreams::Source([this](forward::Upstreams::Read then) { db_->read_upstream_url(loop_, std::move(then)); }));
  return {};
}

base::Result<void> Daemon::open_control() {
  shared_.reset(new api::Shared{settings_, clock_, table_, *db_, metrics_, jobs_, first_client_counter(), files_per_worker_});
  const std::string& socket = settings_.control_socket.get();
  if (auto made = make_directory(std::filesystem::absolute(socket).parent_path().string(), "control_socket"); !made)
    return made;
  aside_ = std::make_unique<loop::Aside>();
  std::vector<control::WorkerDoor> doors;
  for (const auto& worker : workers_) doors.push_back(worker->door());
  house_.reset(new control::House{
      .loop = loop_,
      .shared = *shared_,
      .upstreams = *upstreams_,
      .workers = std::move(doors),
      .listening = {},
      .started = clock_.now(),
      .access_lines_dropped = [this] { return access_log_ ? access_log_->dropped() : 0; },
      .settings_changed = [this] { apply_settings(); },
      .aside = *aside_,
  });
  auto control = control::ControlServer::listen(*house_, socket);
  if (!control) return tl::unexpected(control.error());
  control_ = std::move(*control);
  return {};
}

base::Result<void> Daemon::listen() {
  auto address = http::ListenAddress::tcp(settings_.host.get(), static_cast<std::uint16_t>(settings_.port.get()));
  if (auto free = http::check_nobody_listens(address); !free) return free;
  for (const auto& worker : workers_) worker->make_api(*shared_, crew_, *upstreams_);
  for (const auto& worker : workers_) {
    auto listening = worker->listen(address, [this](const http::Exchange& exchange) { log_exchange(exchange); });
    if (!listening) return listening;
    address.port = workers_.front()->port();
  }
  house_->listening = "http://" + settings_.host.get() + ":" + std::to_string(address.port);
  return {};
}

void Daemon::run() {
  const Signals signals(
      loop_, [this] { loop_.stop(); },
      [this] {
        if (access_log_) access_log_->reopen();
      });
  expiry_timer_.after(kExpiry);
  spdlog::info("listening on {}", house_->listening);
  spdlog::info("serving {}, database {}, control socket {}", settings_.base_model.get(), db_->path(),
               settings_.control_socket.get());
  loop_.run();

  spdlog::info("stopping: {} samples are queued or in flight; waiting polls are answered 408", table_.outstanding());
  for (const auto& worker : workers_) worker->stop(kLastAnswers);
  for (const auto& worker : workers_) worker->join();
}

void Daemon::expire() {
  table_.expire(clock_.now(),
                {settings_.external_future_completed_ttl_sec.get(), settings_.external_future_retrieved_ttl_sec.get()});
  expiry_timer_.after(kExpiry);
}

// The table keeps the one setting that is not read where it is used.
void Daemon::apply_settings() { table_.set_max_outstanding(static_cast<std::size_t>(settings_.max_outstanding.get())); }

void Daemon::log_exchange(const http::Exchange& exchange) {
  if (!access_log_) return;
  access_log_->write({.time = clock_.wall(),
                      .client = std::string(exchange.peer),
                      .method = std::string(exchange.method),
                      .path = std::string(exchange.path),
                      .status = exchange.status,
                      .bytes_in = exchange.bytes_in,
                      .bytes_out = exchange.bytes_out,
                      .milliseconds = exchange.took.count() * 1000,
                      .request_id = std::string(exchange.request_id)});
}

}  // namespace tinker::daemon
