// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/load_run.h"

#include <event2/event.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>

#include "loop/event_loop.h"
#include "loop/open_files.h"
#include "tinker-load/client_process.h"
#include "tinker-load/connections_watch.h"
#include "tinker-load/health_probe.h"
#include "tinker-load/sdk_client.h"
#include "tinker-load/stop_signals.h"

namespace tinker::load {
namespace {

constexpr std::size_t kOtherFiles = 64;  // of a client process, that are no samples' connections
constexpr base::Seconds kShowEvery{0.5};
constexpr base::Seconds kLookEvery{0.5};  // after the server

double cpu_sec(const rusage& use) {
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec * 1e-6; };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

// A client process, as the parent sees it. Destroyed, it is ended and waited for.
class Child {
 public:
  Child(loop::EventLoop& loop, ClientProcess process, std::function<void()> ended)
      : process_(std::move(process)), ended_(std::move(ended)) {
    fcntl(process_.messages.get(), F_SETFL, O_NONBLOCK);
    event_.reset(event_new(
        loop.base(), process_.messages.get(), EV_READ | EV_PERSIST,
        [](evutil_socket_t, short, void* self) { static_cast<Child*>(self)->read_some(); }, this));
    event_priority_set(event_.get(), static_cast<int>(loop::Priority::client));
    event_add(event_.get(), nullptr);
  }
  ~Child() { wait(); }

  void stop() const { kill(process_.pid, SIGTERM); }
  // Its CPU time, when it has ended.
  double wait() {
    if (process_.pid == 0) return 0;
    rusage use{};
    while (wait4(process_.pid, nullptr, 0, &use) < 0 && errno == EINTR) {
    }
    process_.pid = 0;
    return cpu_sec(use);
  }

  const Message& last() const { return last_; }
  const std::string& fault() const { return fault_; }
  bool open() const { return event_ != nullptr; }

 private:
  void read_some() {
    char bytes[65536];
    ssize_t got;
    while ((got = read(process_.messages.get(), bytes, sizeof bytes)) > 0) unread_.append(bytes, static_cast<std::size_t>(got));
    const bool at_end = got == 0;
    std::size_t begin = 0;
    for (std::size_t end; (end = unread_.find('\n', begin)) != std::string::npos; begin = end + 1)
      take(std::string_view(unread_).substr(begin, end - begin));
    unread_.erase(0, begin);
    if (!at_end) return;
    event_.reset();
    ended_();
  }
  void take(std::string_view line) {
    auto message = read_message(line);
    if (message) {
      last_ = std::move(*message);
    } else if (fault_.empty()) {
      fault_ = message.error().text;
    }
  }

  ClientProcess process_;
  const std::function<void()> ended_;
  loop::EventPtr event_;
  std::string unread_;
  Message last_;
  std::string fault_;
};

using Children = std::deque<Child>;

void show_progress(const Children& children, std::size_t all, base::Monotonic began) {
  std::uint64_t done = 0;
  std::uint64_t outstanding = 0;
  for (const Child& child : children) {
    done += child.last().totals ? child.last().totals->ended() : child.last().progress;
    outstanding += child.last().outstanding.value_or(0);
  }
  const double seconds = base::Seconds(base::SystemClock{}.now() - began).count();
  std::fprintf(stderr, "\r%llu of %zu done, %llu outstanding, %.0f samples/s   ", static_cast<unsigned long long>(done), all,
               static_cast<unsigned long long>(outstanding), static_cast<double>(done) / seconds);
}

base::Result<std::vector<ClientProcess>> start_processes(const RunOptions& options, const http::SocketAddress& server) {
  std::vector<ClientProcess> started;
  if (options.client == ClientKind::sdk) {
    auto process = run_sdk_client(options);
    if (!process) return tl::unexpected(process.error());
    started.push_back(std::move(*process));
    return started;
  }
  LoadOptions load = options.load;
  load.max_outstanding = load.most_outstanding();
  std::size_t processes = options.processes;
  if (processes == 0)
    processes = load.poll == Poll::multi ? 1 : (load.max_outstanding + kConnectionsPerProcess - 1) / kConnectionsPerProcess;
  processes = std::min(processes, load.num_requests);
  const std::size_t files = loop::raise_open_files();
  const std::size_t most = processes * (files - std::min(files / 2, kOtherFiles));
  if (load.poll == Poll::single && load.max_outstanding > most) {
    std::fprintf(stderr, "tinker-load: --max-outstanding %zu: using %zu, which %zu processes with %zu open files each allow\n",
                 load.max_outstanding, most, processes, files);
    load.max_outstanding = most;
  }
  for (std::size_t k = 0; k < processes; ++k) {
    auto process = fork_client(server, share_of(load, k, processes, server));
    if (!process) {
      for (const ClientProcess& earlier : started) kill(earlier.pid, SIGTERM);
      return tl::unexpected(process.error());
    }
    started.push_back(std::move(*process));
  }
  return started;
}

}  // namespace

void RunOutcome::add(const RunOutcome& other) {
  totals.merge(other.totals);
  seconds += other.seconds;
  health_times.merge(other.health_times);
  healthz_failed += other.healthz_failed;
  own_cpu_sec += other.own_cpu_sec;
  stopped |= other.stopped;
  if (other.server) {
    if (!server) server.emplace();
    server->cpu_sec += other.server->cpu_sec;
    server->peak_rss_bytes = std::max(server->peak_rss_bytes, other.server->peak_rss_bytes);
  }
  if (other.server_peak_connections)
    server_peak_connections = std::max(server_peak_connections.value_or(0), *other.server_peak_connections);
}

base::Result<RunOutcome> run_load(const RunOptions& options) {
  const auto server = read_url(options.url);
  if (!server) return tl::unexpected(server.error());
  const auto before = use_of_tree(options.server_pid);
  if (options.server_pid != 0 && !before) {
    return base::fail(base::Code::invalid_argument, "--server-pid " + std::to_string(options.server_pid) +
                                                        ": no such process; leave it out when the server is elsewhere");
  }
  auto processes = start_processes(options, *server);
  if (!processes) return tl::unexpected(processes.error());

  loop::EventLoop loop("tinker-load");
  const StopSignals signals(loop);
  std::size_t running = processes->size();
  Children children;
  const auto stop_all = [&] {
    for (const Child& child : children) child.stop();
  };
  for (ClientProcess& process : *processes) {
    children.emplace_back(loop, std::move(process), [&] {
      if (--running == 0) return loop.stop();
      if (std::ranges::any_of(children, [](const Child& child) { return !child.last().fatal.empty(); })) stop_all();
    });
  }
  HealthProbe probe(loop, *server);
  std::unique_ptr<ConnectionsWatch> watch;
  if (!options.control_socket.empty()) {
    auto started = ConnectionsWatch::start(loop, options.control_socket);
    if (!started) {
      stop_all();
      return tl::unexpected(base::within("--control-socket", started.error()));
    }
    watch = std::move(*started);
  }
  const base::Monotonic began = base::SystemClock{}.now();
  const bool on_terminal = isatty(STDERR_FILENO) != 0;
  loop::Timer show(loop, [&] {
    show_progress(children, options.load.num_requests, began);
    show.after(kShowEvery);
  });
  if (on_terminal) show.after(kShowEvery);
  bool server_ended = false;  // the clients would go on for ever
  loop::Timer look(loop, [&] {
    server_ended = options.server_pid != 0 && !runs(options.server_pid);
    if (server_ended) return stop_all();
    look.after(kLookEvery);
  });
  look.after(kLookEvery);
  loop.run();
  if (signals.stopped()) {  // what there is
    stop_all();
    if (running > 0) loop.run();
  }
  if (on_terminal) std::fputc('\n', stderr);

  RunOutcome outcome{.health_times = probe.times(), .healthz_failed = probe.failed(), .stopped = signals.stopped()};
  outcome.server = use_of_tree(options.server_pid);
  if (outcome.server && before) outcome.server->cpu_sec -= before->cpu_sec;
  if (watch) outcome.server_peak_connections = watch->most();
  for (Child& child : children) {
    outcome.own_cpu_sec += child.wait();
    const Message& last = child.last();
    if (!last.fatal.empty()) return base::fail(base::Code::unavailable, last.fatal);
    if (!child.fault().empty()) return base::fail(base::Code::internal, child.fault());
    if (!last.totals) return base::fail(base::Code::internal, "a client process ended without a report; was it killed?");
    outcome.totals.merge(*last.totals);
  }
  outcome.seconds = outcome.totals.seconds();
  if (server_ended) {
    return base::fail(base::Code::unavailable, "the server, process " + std::to_string(options.server_pid) + ", ended after " +
                                                   std::to_string(outcome.totals.counts.completed) + " of " +
                                                   std::to_string(options.load.num_requests) + " samples");
  }
  return outcome;
}

}  // namespace tinker::load
