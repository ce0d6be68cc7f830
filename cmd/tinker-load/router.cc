// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/router.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>

namespace tinker::load {
namespace {

http::Response response(int status, std::string_view content_type, std::string body) {
  return {.status = status, .content_type = content_type, .fields = {}, .body = base::SharedBytes(std::move(body))};
}

// The shape of vLLM's own errors.
http::Response bad_request(const std::string& message) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.StartObject();
  json.Key("error");
  json.StartObject();
  json.Key("message");
  json.String(message.data(), static_cast<rapidjson::SizeType>(message.size()));
  json.Key("type");
  json.String("BadRequestError");
  json.Key("param");
  json.Null();
  json.Key("code");
  json.Int(400);
  json.EndObject();
  json.EndObject();
  return response(400, "application/json", {buffer.GetString(), buffer.GetSize()});
}

}  // namespace

base::Result<std::unique_ptr<Router>> Router::listen(loop::EventLoop& loop, RouterOptions options) {
  const auto address = http::ListenAddress::tcp(options.host, options.port);
  std::unique_ptr<Router> router(new Router(loop, std::move(options)));
  http::ServerHooks hooks;
  hooks.handle = [raw = router.get()](http::Request&& request, http::Reply reply) {
    raw->handle(std::move(request), std::move(reply));
  };
  hooks.body_limit = [](std::string_view, std::string_view) { return std::size_t{64} << 20; };
  auto server = http::Server::listen(loop, address, std::move(hooks));
  if (!server) return tl::unexpected(server.error());
  router->server_ = std::move(*server);
  return router;
}

Router::Router(loop::EventLoop& loop, RouterOptions options)
    : options_(std::move(options)), bodies_(options_.body, options_.output_tokens), timer_(loop, [this] {
        if (options_.mode == VllmMode::barrier) return open_barrier();
        advance();
      }) {}

// The connections go first, and what they tell on their way finds nothing left to answer.
Router::~Router() {
  const auto unanswered = std::exchange(held_, {});
  server_.reset();
}

void Router::handle(http::Request&& request, http::Reply reply) {
  counts_.most_connections = std::max(counts_.most_connections, server_->connections());
  const bool get = request.method == "GET";
  if (request.path == "/v1/completions") {
    if (request.method == "POST") return complete(std::move(request), std::move(reply));
    return reply.send(response(405, "application/json", R"({"detail":"Method Not Allowed"})"));
  }
  if (get && request.path == "/health") return reply.send(response(200, "text/plain", "All servers healthy"));
  if (get && request.path == "/v1/models")
    return reply.send(response(200, "application/json",
                               R"({"object":"list","data":[{"id":"tiny","object":"model","owned_by":"tinker-load"}]})"));
  reply.send(response(404, "application/json", R"({"detail":"Not Found"})"));
}

void Router::complete(http::Request&& request, http::Reply reply) {
  ++counts_.requests;
  auto asked = read_asked(request.body);
  if (!asked) {
    ++counts_.refused;
    return reply.send(bad_request(asked.error().text));
  }
  arrive({std::move(*asked), std::move(reply)});
}

void Router::arrive(Generation generation) {
  ++in_flight_;
  counts_.most_in_flight = std::max(counts_.most_in_flight, in_flight_);
  const bool at_once = options_.mode == VllmMode::instant || barrier_open_;
  if (at_once && unsent_bytes_ < options_.unsent_limit_bytes) return answer(generation);
  const std::uint64_t number = ++last_number_;
  generation.reply.on_gone([this, number] { left(number); });
  held_.emplace(number, std::move(generation));
  if (at_once) return ended_.push_back(number);
  switch (options_.mode) {
    case VllmMode::instant:
      return;
    case VllmMode::latency:
      waiting_.push_back(number);
      return advance();
    case VllmMode::barrier:
      waiting_.push_back(number);
      if (waiting_.size() == 1) timer_.after(base::Seconds{options_.hold_seconds});
      if (waiting_.size() == options_.barrier) open_barrier();
      return;
  }
}

void Router::advance() {
  const base::Monotonic now = base::SystemClock{}.now();
  while (!running_.empty() && running_.front().first <= now) {
    const std::uint64_t number = running_.front().second;
    running_.pop_front();
    if (!held_.contains(number)) continue;
    held_.at(number).begun = false;
    --generating_;
    ended_.push_back(number);
  }
  const auto lasts = std::chrono::duration_cast<base::Monotonic::duration>(base::Seconds{options_.gen_seconds});
  while (!waiting_.empty() && generating_ < options_.max_num_seqs) {
    const std::uint64_t number = waiting_.front();
    waiting_.pop_front();
    const auto generation = held_.find(number);
    if (generation == held_.end()) continue;
    generation->second.begun = true;
    ++generating_;
    running_.emplace_back(now + lasts, number);
  }
  if (!running_.empty() && !timer_.pending()) timer_.after(running_.front().first - now);
  answer_ended();
}

void Router::open_barrier() {
  barrier_open_ = true;
  timer_.cancel();
  ended_.insert(ended_.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
  answer_ended();
}

void Router::answer_ended() {
  while (!ended_.empty() && unsent_bytes_ < options_.unsent_limit_bytes) {
    auto generation = held_.extract(ended_.front());
    ended_.pop_front();
    if (!generation.empty()) answer(generation.mapped());
  }
}

void Router::answer(Generation& generation) {
  std::string body = bodies_.write(generation.asked);
  const std::size_t bytes = body.size();
  unsent_bytes_ += bytes;
  generation.reply.send(response(200, "application/json", std::move(body)), [this, bytes](http::Delivery delivery) {
    switch (delivery) {
      case http::Delivery::confirmed:
        return;  // `written` was told before
      case http::Delivery::written:
        ++counts_.answered;
        break;
      case http::Delivery::gone:
        ++counts_.aborted;
        break;
    }
    --in_flight_;
    unsent_bytes_ -= bytes;
    answer_ended();
  });
}

void Router::left(std::uint64_t number) {
  const auto generation = held_.extract(number);
  if (generation.empty()) return;
  ++counts_.aborted;
  --in_flight_;
  if (!generation.mapped().begun) return;
  --generating_;
  advance();
}

}  // namespace tinker::load
