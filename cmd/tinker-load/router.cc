// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/router.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "codec/json_cursor.h"

namespace tinker::load {
namespace {

http::Response text(int status, std::string_view content_type, std::string body) {
  return {.status = status, .content_type = content_type, .fields = {}, .body = base::SharedBytes(std::move(body))};
}

struct Asked {
  std::vector<std::int32_t> prompt;  // its first tokens
  std::uint32_t choices = 1;
  std::string model;
};

template <class Number>
bool take_number(codec::JsonCursor& cursor, Number& number) {
  cursor.peek();
  const auto [behind, error] = std::from_chars(cursor.at(), cursor.end(), number);
  cursor.move_to(behind);
  return error == std::errc{};
}

// What a body asks for; false when it is no completion request with a prompt of token ids.
bool read_request(std::string_view body, Asked& asked) {
  base::Buffer text;
  text.append(body);
  codec::JsonCursor cursor(text.data(), text.data() + text.size());
  const bool read = cursor.each_member([&](std::string_view key) {
    if (key == "n") return take_number(cursor, asked.choices);
    if (key == "model") {
      std::string_view model;
      if (!cursor.take_string(model)) return false;
      asked.model = model;
      return true;
    }
    if (key != "prompt") return cursor.skip_value();
    const char* begin = cursor.at();
    cursor.peek();
    if (!cursor.take('[')) return false;
    while (asked.prompt.size() < kKeyTokens && cursor.peek() != ']') {
      if (!take_number(cursor, asked.prompt.emplace_back())) return false;
      cursor.take(',');
    }
    cursor.move_to(begin);
    return cursor.skip_value();
  });
  return read && !asked.prompt.empty();
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
        if (options_.mode == VllmMode::barrier) return end_barrier();
        advance();
      }) {}

void Router::handle(http::Request&& request, http::Reply reply) {
  if (request.path == "/v1/completions" && request.method == "POST") return complete(std::move(request), std::move(reply));
  if (request.path == "/health") return reply.send(text(200, "text/plain", "All servers healthy"));
  if (request.path == "/v1/models")
    return reply.send(
        text(200, "application/json", R"({"object":"list","data":[{"id":"tiny","object":"model","owned_by":"tinker-load"}]})"));
  reply.send(text(404, "application/json", R"({"detail":"Not Found"})"));
}

void Router::complete(http::Request&& request, http::Reply reply) {
  ++counts_.requests;
  Asked asked;
  if (!read_request(request.body, asked)) {
    return reply.send(
        text(400, "application/json",
             R"({"error":{"message":"a prompt of token ids is needed","type":"BadRequestError","param":null,"code":400}})"));
  }
  arrive({key_of(asked.prompt), asked.choices, std::move(asked.model), std::move(reply)});
}

void Router::arrive(Generation generation) {
  if (options_.mode == VllmMode::instant) return answer(generation);
  const std::uint64_t number = ++last_number_;
  generation.reply.on_gone([this, number] { left(number); });
  held_.emplace(number, std::move(generation));
  counts_.most_in_flight = std::max(counts_.most_in_flight, held_.size());
  if (options_.mode == VllmMode::barrier) {
    if (held_.size() == 1) timer_.after(base::Seconds{options_.hold_seconds});
    if (options_.barrier > 0 && held_.size() >= options_.barrier) end_barrier();
    return;
  }
  waiting_.push_back(number);
  advance();
}

void Router::answer(Generation& generation) {
  ++counts_.answered;
  generation.reply.send(text(200, "application/json", bodies_.write(generation.key, generation.choices, generation.model)));
}

void Router::advance() {
  const base::Monotonic now = base::SystemClock{}.now();
  while (!running_.empty() && running_.front().first <= now) {
    auto ended = held_.extract(running_.front().second);
    running_.pop_front();
    if (!ended.empty()) answer(ended.mapped());
  }
  while (!waiting_.empty() && running_.size() < options_.max_num_seqs) {
    const std::uint64_t number = waiting_.front();
    waiting_.pop_front();
    if (!held_.contains(number)) continue;
    running_.emplace_back(now + std::chrono::duration_cast<base::Monotonic::duration>(base::Seconds{options_.gen_seconds}),
                          number);
  }
  if (!running_.empty() && !timer_.pending()) timer_.after(running_.front().first - now);
}

void Router::left(std::uint64_t number) {
  if (held_.erase(number) == 0) return;
  ++counts_.aborted;
  const auto running = std::ranges::find(running_, number, &std::pair<base::Monotonic, std::uint64_t>::second);
  if (running == running_.end()) return;
  running_.erase(running);
  advance();
}

void Router::end_barrier() {
  timer_.cancel();
  auto all = std::exchange(held_, {});
  for (auto& [number, generation] : all) answer(generation);
}

}  // namespace tinker::load
