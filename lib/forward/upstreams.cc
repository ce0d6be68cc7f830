// SPDX-License-Identifier: Apache-2.0
#include "forward/upstreams.h"

#include <netdb.h>
#include <pthread.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace tinker::forward {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Addresses = std::vector<http::SocketAddress>;

constexpr char kNothingPublished[] = "inference engine not ready: no proxy URL published to EngineStateDB";
constexpr char kStopping[] = "tinkerd is stopping";
constexpr base::Seconds kStopPatience{0.2};

SteadyClock::duration steady(base::Seconds seconds) { return std::chrono::duration_cast<SteadyClock::duration>(seconds); }

std::optional<Addresses> numeric(const UpstreamUrl& url) {
  auto address = http::SocketAddress::numeric(url.host, url.port);
  if (!address) return std::nullopt;
  return Addresses{*address};
}

// Blocks for as long as the name servers take.
base::Result<Addresses> resolve(const UpstreamUrl& url) {
  if (auto addresses = numeric(url)) return *std::move(addresses);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &list);
  if (error != 0) {
    return base::fail(base::Code::unavailable,
                      "cannot resolve the host of upstream " + url.text() + ": " + gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  Addresses addresses;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    http::SocketAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
  }
  std::stable_partition(addresses.begin(), addresses.end(),
                        [](const http::SocketAddress& address) { return address.storage.ss_family == AF_INET; });
  return addresses;
}

// Name servers rotate their answers; that alone is no change.
bool same_set(const Addresses& a, const Addresses& b) {
  const auto texts = [](const Addresses& addresses) {
    std::vector<std::string> all;
    for (const auto& address : addresses) all.push_back(address.text());
    std::sort(all.begin(), all.end());
    return all;
  };
  return a.size() == b.size() && texts(a) == texts(b);
}

}  // namespace

struct Upstreams::State {
  using PublishedUrl = base::Result<std::optional<std::string>>;
  struct Endpoint {
    std::size_t index = 0;
    std::optional<UpstreamUrl> url;            // as configured or last published; thread `upstreams` only, after construction
    std::shared_ptr<const Upstream> upstream;  // nullptr while it is not known; written by thread `upstreams` under mutex
    std::shared_ptr<std::atomic<std::size_t>> outstanding = std::make_shared<std::atomic<std::size_t>>(0);
    SteadyClock::time_point resolved{};  // thread `upstreams` only
  };
  struct Asked {
    loop::EventLoop* reply_to;
    Done done;
  };

  Source source;  // empty: fixed URLs
  ReadingTimes times;
  std::vector<Endpoint> endpoints;

  mutable std::mutex mutex;  // nothing is called while it is held
  std::condition_variable changed;
  std::vector<Asked> asked;
  std::size_t first_choice = 0;
  bool stopping = false;
  bool outside = false;  // in a call into another room: stop() waits for its end
  bool ended = false;

  void work(const std::shared_ptr<State>& self);
  std::optional<base::Seconds> interval() const;
  base::Result<void> read(const std::shared_ptr<State>& self, bool everything);
  base::Result<void> read_published(const std::shared_ptr<State>& self, bool everything);
  PublishedUrl ask_source(const std::shared_ptr<State>& self);
  base::Result<void> resolve_endpoint(Endpoint& endpoint, const UpstreamUrl& url);
  void know(Endpoint& endpoint, UpstreamUrl url, Addresses addresses);
  void forget(Endpoint& endpoint);
};

// How long until a reading that nobody asked for; nullopt when nothing can change by itself.
std::optional<base::Seconds> Upstreams::State::interval() const {
  if (source) return times.watch;
  const bool names =
      std::any_of(endpoints.begin(), endpoints.end(), [](const Endpoint& endpoint) { return !numeric(*endpoint.url); });
  return names ? std::optional(times.resolve) : std::nullopt;
}

void Upstreams::State::work(const std::shared_ptr<State>& self) {
  const auto every = interval();
  std::optional<SteadyClock::time_point> last;
  std::unique_lock lock(mutex);
  while (!stopping) {
    const auto wanted = [this] { return stopping || !asked.empty(); };
    if (!last && every) {
      // The first reading is due at once.
    } else if (every) {
      changed.wait_until(lock, *last + steady(*every), wanted);
    } else {
      changed.wait(lock, wanted);
    }
    if (last) changed.wait_until(lock, *last + steady(times.apart), [this] { return stopping; });
    if (stopping) break;

    last = SteadyClock::now();
    std::vector<Asked> answered = std::exchange(asked, {});
    lock.unlock();
    const base::Result<void> outcome = read(self, !answered.empty());
    lock.lock();
    if (stopping) break;
    outside = true;
    lock.unlock();
    for (Asked& each : answered) {
      each.reply_to->post([done = std::move(each.done), outcome] { done(outcome); });
    }
    lock.lock();
    outside = false;
    changed.notify_all();
  }
  ended = true;
  changed.notify_all();
}

// `everything`: somebody asked, perhaps because an address failed; otherwise names are left alone until they are due.
base::Result<void> Upstreams::State::read(const std::shared_ptr<State>& self, bool everything) {
  if (source) return read_published(self, everything);
  bool any = false;
  base::Result<void> first_error;
  for (Endpoint& endpoint : endpoints) {
    const auto resolved = resolve_endpoint(endpoint, *endpoint.url);
    any = any || resolved.has_value();
    if (!resolved && first_error) first_error = resolved;
  }
  return any ? base::Result<void>{} : first_error;
}

base::Result<void> Upstreams::State::read_published(const std::shared_ptr<State>& self, bool everything) {
  Endpoint& endpoint = endpoints.front();
  const PublishedUrl published = ask_source(self);
  if (!published) {
    // A database that is locked must not fail samples that need not wait for it.
    if (endpoint.upstream) return {};
    return tl::unexpected(published.error());
  }
  if (!*published || (*published)->empty()) {
    forget(endpoint);
    return base::fail(base::Code::unavailable, kNothingPublished);
  }
  auto url = UpstreamUrl::parse(**published);
  if (!url) {
    forget(endpoint);
    return base::fail(base::Code::unavailable,
                      "the inference engine published an address that cannot be used: " + url.error().text);
  }
  const bool due = SteadyClock::now() >= endpoint.resolved + steady(times.resolve);
  if (endpoint.upstream && endpoint.url == *url && !everything && !due) return {};
  return resolve_endpoint(endpoint, *url);
}

Upstreams::State::PublishedUrl Upstreams::State::ask_source(const std::shared_ptr<State>& self) {
  const auto slot = std::make_shared<std::optional<PublishedUrl>>();  // guarded by mutex
  std::unique_lock lock(mutex);
  if (stopping) return base::fail(base::Code::unavailable, kStopping);
  outside = true;
  lock.unlock();
  source([self, slot](PublishedUrl published) {
    {
      std::lock_guard guard(self->mutex);
      *slot = std::move(published);
    }
    self->changed.notify_all();
  });
  lock.lock();
  outside = false;
  changed.notify_all();
  changed.wait(lock, [&] { return stopping || slot->has_value(); });
  if (!slot->has_value()) return base::fail(base::Code::unavailable, kStopping);
  return **slot;
}

base::Result<void> Upstreams::State::resolve_endpoint(Endpoint& endpoint, const UpstreamUrl& url) {
  auto addresses = resolve(url);
  if (addresses) {
    know(endpoint, url, *std::move(addresses));
    return {};
  }
  if (endpoint.upstream && endpoint.upstream->url == url) return {};
  forget(endpoint);
  return tl::unexpected(addresses.error());
}

void Upstreams::State::know(Endpoint& endpoint, UpstreamUrl url, Addresses addresses) {
  endpoint.url = url;
  endpoint.resolved = SteadyClock::now();
  if (endpoint.upstream && endpoint.upstream->url == url && same_set(endpoint.upstream->addresses, addresses)) return;
  auto upstream = std::make_shared<Upstream>();
  upstream->index = endpoint.index;
  upstream->url = std::move(url);
  upstream->addresses = std::move(addresses);
  std::lock_guard guard(mutex);
  endpoint.upstream = std::move(upstream);
}

void Upstreams::State::forget(Endpoint& endpoint) {
  std::lock_guard guard(mutex);
  endpoint.upstream = nullptr;
}

Upstreams::Upstreams(std::vector<UpstreamUrl> fixed, ReadingTimes times) : state_(std::make_shared<State>()) {
  assert(!fixed.empty());
  state_->times = times;
  for (UpstreamUrl& url : fixed) {
    State::Endpoint& endpoint = state_->endpoints.emplace_back();
    endpoint.index = state_->endpoints.size() - 1;
    endpoint.url = url;
    // No look-up is needed for these, so that they serve from the first request on.
    if (auto addresses = numeric(url)) state_->know(endpoint, std::move(url), *std::move(addresses));
  }
  start();
}

Upstreams::Upstreams(Source source, ReadingTimes times) : state_(std::make_shared<State>()) {
  state_->source = std::move(source);
  state_->times = times;
  state_->endpoints.resize(1);
  start();
}

void Upstreams::start() {
  std::thread([state = state_] {
    pthread_setname_np(pthread_self(), "upstreams");
    state->work(state);
  }).detach();
}

Upstreams::~Upstreams() { stop(); }

void Upstreams::stop() {
  std::vector<State::Asked> unanswered;
  std::unique_lock lock(state_->mutex);
  state_->stopping = true;
  unanswered.swap(state_->asked);
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kStopPatience, [this] { return state_->ended; });
  state_->changed.wait(lock, [this] { return !state_->outside; });
  lock.unlock();
}

Choice Upstreams::choose(std::optional<std::size_t> avoid) {
  std::lock_guard guard(state_->mutex);
  const auto& endpoints = state_->endpoints;
  const std::size_t first = state_->first_choice++ % endpoints.size();
  const State::Endpoint* best = nullptr;
  std::size_t least = 0;
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const State::Endpoint& endpoint = endpoints[(first + i) % endpoints.size()];
    if (!endpoint.upstream) continue;
    const std::size_t outstanding = endpoint.outstanding->load(std::memory_order_relaxed);
    const bool better = best == nullptr || best->index == avoid || (endpoint.index != avoid && outstanding < least);
    if (!better) continue;
    best = &endpoint;
    least = outstanding;
  }
  if (best == nullptr) return {};
  return Choice(best->upstream, best->outstanding);
}

void Upstreams::refresh(loop::EventLoop& reply_to, Done done) {
  {
    std::lock_guard guard(state_->mutex);
    if (state_->stopping) return;
    state_->asked.push_back({&reply_to, std::move(done)});
  }
  state_->changed.notify_all();
}

std::vector<std::string> Upstreams::known() const {
  std::lock_guard guard(state_->mutex);
  std::vector<std::string> urls;
  for (const State::Endpoint& endpoint : state_->endpoints) {
    if (endpoint.upstream) urls.push_back(endpoint.upstream->url.text());
  }
  return urls;
}

}  // namespace tinker::forward
