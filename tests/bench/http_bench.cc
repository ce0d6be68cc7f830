// SPDX-License-Identifier: Apache-2.0
// What HTTP costs on both sides: server CPU of a request on kept-alive connections, memory of an idle connection, client CPU of
// an upstream's answer. Figures only; nothing here is asserted.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <sys/resource.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "http/client_connection.h"
#include "http/server.h"
#include "support/loop_thread.h"
#include "support/raw_client.h"

namespace tinker {
namespace {

using test::LoopThread;
using test::RawClient;

double thread_cpu_sec() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

const std::string kPoll =
    "POST /api/v1/retrieve_future HTTP/1.1\r\nhost: 127.0.0.1:8000\r\naccept: application/x-protobuf\r\n"
    "accept-encoding: gzip, deflate, zstd\r\ncontent-type: application/json\r\nuser-agent: AsyncTinker/Python 0.38.0\r\n"
    "x-api-key: tml-0123456789abcdef\r\nx-idempotency-key: stainless-python-retry-0f8fad5b-d9cb-469f-a165-70867728950e\r\n"
    "x-stainless-retry-count: 0\r\nx-stainless-read-timeout: 45\r\nx-stainless-package-version: 0.38.0\r\nx-stainless-os: "
    "Linux\r\n"
    "x-stainless-arch: x64\r\nx-stainless-runtime: CPython\r\nx-stainless-runtime-version: 3.11.2\r\nx-stainless-async: "
    "false\r\n"
    "x-stainless-raw-response: raw\r\nx-tinker-request-iteration: 0\r\ncontent-length: 22\r\n\r\n{\"request_id\":\"s4711\"}";

// A server that answers each request with the same bytes, and `count` clients.
class Bench {
 public:
  Bench(std::size_t count, std::size_t answer_bytes) : answer_(std::string(answer_bytes, 'r')) {
    thread_.call([this] {
      http::ServerHooks hooks;
      hooks.handle = [this](http::Request&&, http::Reply reply) {
        if (holding_) return held_.push_back(std::move(reply));
        reply.send({.content_type = "application/x-protobuf", .body = answer_}, [](http::Delivery) {});
      };
      server_ = std::move(*http::Server::listen(thread_.loop(), http::ListenAddress::tcp("127.0.0.1", 0), std::move(hooks)));
    });
    port_ = thread_.call([this] { return server_->port(); });
    for (std::size_t i = 0; i < count; ++i) clients_.push_back(RawClient::tcp(port_));
  }
  ~Bench() {
    thread_.call([this] {
      server_.reset();
      held_.clear();
    });
  }

  std::uint16_t port() const { return port_; }
  double server_cpu_sec() { return thread_.call(thread_cpu_sec); }
  // A request on each connection, none answered.
  void hold_all() {
    thread_.call([this] { holding_ = true; });
    for (auto& client : clients_) client.send(kPoll);
    while (thread_.call([this] { return held_.size(); }) < clients_.size()) std::this_thread::yield();
  }
  // One request on each connection, all outstanding at once.
  void round() {
    for (auto& client : clients_) client.send(kPoll);
    for (auto& client : clients_) benchmark::DoNotOptimize(client.answer());
  }

 private:
  LoopThread thread_;
  base::SharedBytes answer_;
  std::unique_ptr<http::Server> server_;
  bool holding_ = false;
  std::vector<http::Reply> held_;
  std::uint16_t port_ = 0;
  std::vector<RawClient> clients_;
};

void server_request(benchmark::State& state) {
  Bench bench(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  bench.round();
  const double before = bench.server_cpu_sec();
  for (auto _ : state) bench.round();
  const double used = bench.server_cpu_sec() - before;
  const double requests = static_cast<double>(state.iterations()) * static_cast<double>(state.range(0));
  state.counters["server_us_a_request"] = used / requests * 1e6;
  state.counters["requests_a_core_sec"] = requests / used;
}
BENCHMARK(server_request)->Args({1, 300})->Args({256, 300})->Args({256, 65536})->Unit(benchmark::kMillisecond);

void idle_connection(benchmark::State& state) {
  for (auto _ : state) {
    malloc_trim(0);
    const struct mallinfo2 before = mallinfo2();
    Bench bench(static_cast<std::size_t>(state.range(0)), 300);
    bench.round();
    const struct mallinfo2 after = mallinfo2();
    state.counters["bytes_a_connection"] =
        static_cast<double>(after.uordblks - before.uordblks) / static_cast<double>(state.range(0));
  }
}
// A poll that the handler holds, its request dropped.
void held_request(benchmark::State& state) {
  for (auto _ : state) {
    malloc_trim(0);
    const struct mallinfo2 before = mallinfo2();
    Bench bench(static_cast<std::size_t>(state.range(0)), 300);
    bench.hold_all();
    const struct mallinfo2 after = mallinfo2();
    state.counters["bytes_a_request"] =
        static_cast<double>(after.uordblks - before.uordblks) / static_cast<double>(state.range(0));
  }
}
BENCHMARK(held_request)->Arg(4000)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(idle_connection)->Arg(4000)->Iterations(1)->Unit(benchmark::kMillisecond);

void upstream_answer(benchmark::State& state) {
  const Bench upstream(0, static_cast<std::size_t>(state.range(0)));
  loop::EventLoop loop("bench");
  http::ClientConnection connection(loop, *http::SocketAddress::numeric("127.0.0.1", upstream.port()));
  const double before = thread_cpu_sec();
  for (auto _ : state) {
    connection.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n", {}, {}, [&](const auto& result) {
      if (!result) state.SkipWithError(result.error().text.c_str());
      loop.stop();
    });
    loop.run();
  }
  state.counters["client_us_an_answer"] = (thread_cpu_sec() - before) / static_cast<double>(state.iterations()) * 1e6;
}
BENCHMARK(upstream_answer)->Arg(2'000)->Arg(384'000)->Arg(2'500'000)->Iterations(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tinker
