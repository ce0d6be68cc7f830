// SPDX-License-Identifier: Apache-2.0
#include "api/api.h"

#include <utility>

#include "api/routes.h"

namespace tinker::api {

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
  hooks.limits = [&settings] {
    return http::ServerLimits{.first_byte = settings.request_timeout_sec.get(),
                              .request = settings.request_timeout_sec.get(),
                              .idle = settings.idle_timeout_sec.get(),
                              .write = settings.write_timeout_sec.get()};
  };
  return hooks;
}

}  // namespace tinker::api
