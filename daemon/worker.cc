// SPDX-License-Identifier: Apache-2.0
#include "daemon/worker.h"

#include <utility>

namespace tinker::daemon {

base::Result<std::unique_ptr<Worker>> Worker::make(std::uint32_t number, api::Shared& shared, api::Crew& crew,
                                                   forward::Upstreams& upstreams, const http::ListenAddress& address,
                                                   std::function<void(const http::Exchange&)> finished) {
  auto worker = std::make_unique<Worker>(number, shared, crew, upstreams);
  http::ServerHooks hooks = worker->api_.server_hooks();
  hooks.finished = std::move(finished);
  auto server = http::Server::listen(worker->loop_, address, std::move(hooks));
  if (!server) return tl::unexpected(server.error());
  worker->server_ = std::move(*server);
  return worker;
}

Worker::Worker(std::uint32_t number, api::Shared& shared, api::Crew& crew, forward::Upstreams& upstreams)
    : shared_(shared),
      loop_("w" + std::to_string(number)),
      api_(loop_, number, shared, crew, upstreams),
      quiet_timer_(loop_, [this] { finish_when_quiet(quiet_deadline_); }) {}

Worker::~Worker() {
  if (thread_.joinable()) loop_.stop();
  join();
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::start() {
  thread_ = std::thread([this] { loop_.run(); });
}

void Worker::stop(base::Seconds patience) {
  loop_.post([this, patience] {
    server_->drain();
    api_.retrieval.release_all();
    finish_when_quiet(shared_.clock.now() + std::chrono::duration_cast<base::Monotonic::duration>(patience));
  });
}

void Worker::finish_when_quiet(base::Monotonic deadline) {
  if (server_->connections() == 0 || shared_.clock.now() >= deadline) return loop_.stop();
  quiet_deadline_ = deadline;
  quiet_timer_.after(base::Seconds{0.01});
}

control::WorkerDoor Worker::door() {
  return {&loop_, [this] {
            return control::WorkerCounts{api_.flow.counts(), server_->connections(), api_.retrieval.waiting(),
                                         server_->accept_pauses()};
          }};
}

}  // namespace tinker::daemon
