// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http/reply.h"

namespace tinker::api {

class Api;

// One request on its way to its handler.
struct Call {
  const http::Request& request;
  http::Reply reply;
  std::string id;  // what stood for {id} in the path, percent-decoded
};

// How large a body the route takes.
enum class BodyLimit {
  small,   // 1 MiB: sessions, polls
  sample,  // max_body_bytes
  large,   // 16 MiB: telemetry, and polls that acknowledge results by the thousand
};

// A row of the one table of routes: what the router, the 405 with its Allow, the body limit and the tests are made from.
struct Route {
  std::string_view method;
  std::string_view path;  // "{id}" stands for one non-empty segment
  BodyLimit limit;
  void (*handle)(Api&, Call);
};
std::span<const Route> routes();

// Finds the handler and runs it. Unknown path: 404; known path, other method: 405 with Allow; a surplus trailing slash: 307
// without it (server-contract.md §1.1). A compressed body: 415.
void route(Api& api, http::Request request, http::Reply reply);

// The largest body for a request; unknown paths get the small one.
std::size_t body_limit(std::string_view method, std::string_view path, std::size_t sample_bytes);

}  // namespace tinker::api
