// SPDX-License-Identifier: Apache-2.0
#include "api/api.h"

#include <algorithm>
#include <utility>

#include "api/routes.h"

namespace tinker::api {
namespace {

// Of a worker's files, for what is neither a client's nor an upstream's connection.
constexpr std::size_t kOtherFiles = 128;

}  // namespace

Api::Api(loop::EventLoop& its_loop, std::uint32_t worker, Shared& its_shared, Crew& crew, forward::Upstreams& upstreams)
    : loop(its_loop),
      shared(its_shared),
      samplers(loop, shared.db, shared.settings.base_model.get()),
      retrieval(loop, worker, shared),
      flow(loop, worker, shared, crew, retrieval, upstreams) {}

http::ServerHooks Api::server_hooks() {
  const config::Settings& settings = shared.settings;
  http::ServerHooks hooks;
  hooks.handle = [this](http::Request&& request, http::Reply reply) { route(*this, std::move(request), std::move(reply)); };
  hooks.body_limit = [&settings](std::string_view method, std::string_view path) {
    return body_limit(method, path, static_cast<std::size_t>(settings.max_body_bytes.get()));
  };
  hooks.limits = [this, &settings] {
    return http::ServerLimits{.connections = connection_limit(),
                              .first_byte = settings.request_timeout_sec.get(),
                              .request = settings.request_timeout_sec.get(),
                              .idle = settings.idle_timeout_sec.get(),
                              .write = settings.write_timeout_sec.get()};
  };
  return hooks;
}

// So many clients that there are always descriptors left for their samples' way upstream.
std::size_t Api::connection_limit() const {
  const std::size_t others = flow.limits().max_connections + kOtherFiles;
  return std::max(shared.files_per_worker, 2 * others) - others;
}

}  // namespace tinker::api
