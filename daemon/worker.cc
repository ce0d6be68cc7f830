// SPDX-License-Identifier: Apache-2.0
#include "daemon/worker.h"

#include <pthread.h>

#include <csignal>
#include <future>
#include <string>
#include <utility>

#include "loop/open_files.h"

namespace tinker::daemon {
namespace {

// While it lives, threads that are started take no signals: libevent hands a signal on through a descriptor that exists only in
// main's file table.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Worker::Worker(std::uint32_t number, std::latch& loops_ended)
    : number_(number),
      loops_ended_(loops_ended),
      loop_("w" + std::to_string(number)),
      quiet_timer_(loop_, [this] { finish_when_quiet(); }) {}

Worker::~Worker() { join(); }

bool Worker::start() {
  const SignalsBlocked blocked;
  std::promise<bool> started;
  thread_ = std::thread([this, &started] {
    started.set_value(loop::take_own_file_table());
    run();
  });
  return started.get_future().get();
}

void Worker::run() {
  loop_.run();
  loops_ended_.arrive_and_wait();
  server_.reset();
  api_.reset();
}

void Worker::make_api(api::Shared& shared, api::Crew& crew, forward::Upstreams& upstreams) {
  clock_ = &shared.clock;
  call([&] { api_.emplace(loop_, number_, shared, crew, upstreams); });
}

base::Result<void> Worker::listen(const http::ListenAddress& address, std::function<void(const http::Exchange&)> finished) {
  base::Result<void> done;
  call([&] {
    http::ServerHooks hooks = api_->server_hooks();
    hooks.finished = std::move(finished);
    auto server = http::Server::listen(loop_, address, std::move(hooks));
    if (!server) {
      done = tl::unexpected(server.error());
      return;
    }
    server_ = std::move(*server);
  });
  return done;
}

void Worker::stop(base::Seconds patience) {
  loop_.post([this, patience] {
    server_->drain();
    api_->retrieval.release_all();
    quiet_deadline_ = clock_->now() + std::chrono::duration_cast<base::Monotonic::duration>(patience);
    finish_when_quiet();
  });
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

control::WorkerDoor Worker::door() {
  return {&loop_, [this] {
            return control::WorkerCounts{api_->flow.counts(), server_->connections(), api_->retrieval.waiting(),
                                         server_->accept_pauses(), server_->idle_shed()};
          }};
}

void Worker::call(const std::function<void()>& task) {
  std::promise<void> done;
  loop_.post([&] {
    task();
    done.set_value();
  });
  done.get_future().get();
}

void Worker::finish_when_quiet() {
  if (server_->connections() == 0 || clock_->now() >= quiet_deadline_) return loop_.stop();
  quiet_timer_.after(base::Seconds{0.01});
}

}  // namespace tinker::daemon
