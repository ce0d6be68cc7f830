// SPDX-License-Identifier: Apache-2.0
#include "api/routes.h"

#include <algorithm>
#include <array>
#include <optional>

#include "api/error_reply.h"
#include "api/handlers.h"
#include "base/percent.h"

namespace tinker::api {
namespace {

// The paths that a step samples through stand first: the table is searched from the top.
constexpr std::array kRoutes{
    Route{"POST", "/api/v1/retrieve_future", BodyLimit::small, retrieve_future},
    Route{"POST", "/api/v1/retrieve_futures", BodyLimit::large, retrieve_futures},
    Route{"POST", "/api/v1/asample", BodyLimit::sample, asample},
    Route{"GET", "/api/v1/healthz", BodyLimit::small, healthz},
    Route{"POST", "/api/v1/session_heartbeat", BodyLimit::small, session_heartbeat},
    Route{"POST", "/api/v1/cancel_future", BodyLimit::small, cancel_future},
    Route{"POST", "/api/v1/client/config", BodyLimit::small, client_config},
    Route{"POST", "/api/v1/client/dynamic_config", BodyLimit::small, dynamic_config},
    Route{"GET", "/api/v1/get_server_capabilities", BodyLimit::small, server_capabilities},
    Route{"POST", "/api/v1/create_session", BodyLimit::small, create_session},
    Route{"POST", "/api/v1/sessions/{id}/finish", BodyLimit::small, finish_session},
    Route{"POST", "/api/v1/create_sampling_session", BodyLimit::small, create_sampling_session},
    Route{"POST", "/api/v1/join_sampling_session", BodyLimit::small, join_sampling_session},
    Route{"GET", "/api/v1/samplers/{id}", BodyLimit::small, get_sampler},
    Route{"POST", "/api/v1/telemetry", BodyLimit::large, telemetry},
    Route{"GET", "/", BodyLimit::small, root},
};

constexpr std::string_view kSegment = "{id}";

// What stands for {id} when `path` has the form of `pattern`; empty for a pattern without one; nullopt when it has another
// form.
std::optional<std::string> match(std::string_view pattern, std::string_view path) {
  const std::size_t at = pattern.find(kSegment);
  if (at == std::string_view::npos) return pattern == path ? std::optional<std::string>("") : std::nullopt;
  const std::string_view before = pattern.substr(0, at);
  const std::string_view after = pattern.substr(at + kSegment.size());
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) || !path.ends_with(after)) return std::nullopt;
  const std::string_view segment = path.substr(before.size(), path.size() - before.size() - after.size());
  if (segment.find('/') != std::string_view::npos) return std::nullopt;
  return base::percent_decoded(segment);
}

bool known(std::string_view path) {
  return std::ranges::any_of(kRoutes, [&](const Route& route) { return match(route.path, path).has_value(); });
}

http::Response no_route(std::string_view path) {
  std::string allow;
  for (const Route& route : kRoutes) {
    if (!match(route.path, path)) continue;
    if (!allow.empty()) allow += ", ";
    allow += route.method;
  }
  if (!allow.empty()) {
    http::Response response = detail_response(405, "Method Not Allowed");
    response.fields.emplace_back("allow", std::move(allow));
    return response;
  }
  return detail_response(404, "Not Found");
}

// The same URL without the surplus slash, absolute as the peer writes it.
http::Response without_slash(const http::Request& request, std::string_view path) {
  std::string location = "http://" + std::string(request.fields.find("host").value_or("")) + std::string(path);
  if (!request.query.empty()) location += "?" + request.query;
  http::Response response{.status = 307, .content_type = ""};
  response.fields.emplace_back("location", std::move(location));
  return response;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

void route(Api& api, http::Request request, http::Reply reply) {
  for (const Route& row : kRoutes) {
    if (row.method != request.method) continue;
    auto id = match(row.path, request.path);
    if (!id) continue;
    const auto coding = request.fields.find("content-encoding");
    if (coding && *coding != "identity") {
      reply.send(
          detail_response(415, "content-encoding '" + std::string(*coding) + "' is not taken here; send the body as it is"));
      return;
    }
    row.handle(api, Call{request, std::move(reply), std::move(*id)});
    return;
  }
  std::string_view path = request.path;
  if (path.size() > 1 && path.ends_with('/') && known(path.substr(0, path.size() - 1))) {
    reply.send(without_slash(request, path.substr(0, path.size() - 1)));
    return;
  }
  reply.send(no_route(path));
}

std::size_t body_limit(std::string_view method, std::string_view path, std::size_t sample_bytes) {
  constexpr std::size_t kMiB = 1024 * 1024;
  for (const Route& row : kRoutes) {
    if (row.method != method || !match(row.path, path)) continue;
    switch (row.limit) {
      case BodyLimit::small:
        return kMiB;
      case BodyLimit::sample:
        return sample_bytes;
      case BodyLimit::large:
        return 16 * kMiB;
    }
  }
  return kMiB;
}

}  // namespace tinker::api
