// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "http/client_connection.h"
#include "loop/event_loop.h"

namespace tinker::forward {

// An upstream's base URL: http only, "http://host:port[/prefix]".
struct UpstreamUrl {
  std::string host;
  std::uint16_t port = 80;
  std::string prefix;     // without trailing '/'
  std::string authority;  // as for the Host field
  // Errors name the URL and what is wrong with it: https (not served yet), no host, bad port, credentials or a query in it.
  static base::Result<UpstreamUrl> parse(std::string_view text);
};

// Where to forward to, as last read.
struct Upstream {
  UpstreamUrl url;
  http::SocketAddress address;
};

// Which upstream, and its address: fixed URLs (--upstream), or what the engine publishes in engine_state, which is watched and
// never cached for ever (cases.md U10).
//
// Owned by  Daemon; one for all workers.
// Thread    any. Names are resolved on a thread of its own; answers are posted to the asking loop.
class Upstreams {
 public:
  using Read = std::function<void(base::Result<std::optional<std::string>>)>;
  // Reads the published URL: a database call behind a function, so that this room does not see the store. `then` runs on any
  // thread.
  using Source = std::function<void(Read then)>;

  explicit Upstreams(std::vector<UpstreamUrl> fixed);
  explicit Upstreams(Source source);
  ~Upstreams();

  // The upstream for the next request: the last one known, at once, or after the first reading. With `again`, reads and
  // resolves anew first. Errors (unavailable): nothing is published (`inference engine not ready: no proxy URL published`), the
  // name does not resolve.
  void get(bool again, loop::EventLoop& reply_to, std::function<void(base::Result<Upstream>)> done);
  // What is known now, for status.
  std::vector<std::string> known() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tinker::forward
