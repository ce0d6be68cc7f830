// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/multi_poll.h"

#include <algorithm>
#include <span>
#include <utility>

#include "tinker-load/tinker_calls.h"

namespace tinker::load {
namespace {

constexpr std::size_t kMostTold = 20'000;  // results in one request, so that its body stays below a megabyte
constexpr base::Seconds kConnectPatience{30};

}  // namespace

MultiPoll::MultiPoll(loop::EventLoop& loop, const http::SocketAddress& server, const LoadOptions& options,
                     std::string sampling_session, std::string head, LoadTotals& totals, Hooks hooks)
    : loop_(loop),
      server_(server),
      options_(options),
      sampling_session_(std::move(sampling_session)),
      head_(std::move(head)),
      totals_(totals),
      hooks_(std::move(hooks)),
      pause_(loop, [this] { poll(); }) {}

MultiPoll::~MultiPoll() = default;

void MultiPoll::await(const std::string& request_id) {
  if (early_.erase(request_id) > 0) return hooks_.finished(request_id);
  awaited_.insert(request_id);
  if (!polling_) poll();
}

void MultiPoll::retrieved(const std::string& request_id) { retrieved_.push_back(request_id); }

void MultiPoll::finish(std::function<void()> done) {
  done_ = std::move(done);
  if (polling_ && pause_.pending()) return;
  connection_.reset();  // a poll that is still held brings nothing more
  poll();
}

void MultiPoll::poll() {
  if (done_ && retrieved_.empty()) return std::exchange(done_, nullptr)();
  polling_ = true;
  if (std::exchange(polled_, true)) ++totals_.counts.repolls;
  if (!connection_) {
    connection_ = std::make_unique<http::ClientConnection>(loop_, server_, loop::Priority::client);
    if (options_.source) connection_->come_from(*options_.source);
  }
  const std::size_t told = std::min(retrieved_.size(), kMostTold);
  const bool at_once = done_ || told < retrieved_.size();
  std::string body = retrieve_futures_body(sampling_session_, cursor_, at_once, std::span(retrieved_).first(told));
  std::string whole = head_ + std::to_string(body.size()) + "\r\n\r\n";
  connection_->send(std::move(whole), base::SharedBytes(std::move(body)),
                    {.connect = kConnectPatience, .read = base::Seconds{options_.poll_timeout_sec}},
                    [this, told](const tl::expected<http::Answer, http::Broken>& answer) { answered(answer, told); });
}

void MultiPoll::answered(const tl::expected<http::Answer, http::Broken>& answer, std::size_t told) {
  polling_ = false;
  if (!answer) {
    const bool timed_out = answer.error().kind == http::Breakage::read_timed_out;
    ++(timed_out ? totals_.counts.abandoned_polls : totals_.counts.reconnects);
    return again(answer.error().text);
  }
  const int status = answer->status;
  const auto what = [&] {
    return "retrieve_futures: status " + std::to_string(status) + ": " + std::string(answer->body.view().substr(0, 200));
  };
  if (status == 408 || status == 409 || status == 429 || status >= 500) return again(status == 408 ? "" : what());
  const auto completions = status == 200 ? read_completions(answer->body.view()) : std::nullopt;
  if (!completions) return hooks_.lost(what());
  if (completions->cursor < cursor_) return hooks_.lost(what() + ": the cursor went back from " + std::to_string(cursor_));
  cursor_ = completions->cursor;
  retrieved_.erase(retrieved_.begin(), retrieved_.begin() + static_cast<std::ptrdiff_t>(told));
  for (const std::string& request_id : completions->request_ids) {
    if (awaited_.erase(request_id) > 0) {
      hooks_.finished(request_id);
    } else if (!done_) {
      early_.insert(request_id);
    }
  }
  if (!polling_ && (!awaited_.empty() || done_)) poll();
}

void MultiPoll::again(const std::string& trouble) {
  totals_.troubles.add(trouble);
  if (done_) return std::exchange(done_, nullptr)();
  polling_ = true;
  pause_.after(base::Seconds{options_.first_pause_sec});
}

}  // namespace tinker::load
