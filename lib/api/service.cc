// SPDX-License-Identifier: Apache-2.0
#include "api/api.h"
#include "api/error_reply.h"
#include "api/handlers.h"
#include "api/sdk_version.h"
#include "codec/json_body.h"

namespace tinker::api {

// Flags that the SDK reads once for each ServiceClient (wire.md §7). A body that is none is no fault, as in the peer.
void client_config(Api& api, Call call) {
  codec::JsonBody body(call.request.body);
  const auto said = body.optional_text("sdk_version");
  const SdkVersion version = SdkVersion::parse(said ? *said : call.request.fields.find("x-sdk-version").value_or(""));
  const config::Settings& settings = api.shared.settings;
  const bool many = settings.retrieve_futures.get() && version >= SdkVersion{0, 27};
  const auto text = [](bool flag) { return flag ? "true" : "false"; };
  call.reply.send(json_response("{\"pjwt_auth_enabled\":false,\"sample_max_concurrent_requests\":" +
                                std::to_string(settings.sample_max_concurrent_requests.get()) +
                                ",\"sample_use_retrieve_futures\":" + text(many) +
                                ",\"sample_join_sampling_session\":" + text(version >= SdkVersion{0, 33}) + "}"));
}

// Flags that the SDK reads again every five minutes. A cancelled sample frees its place upstream (wire.md §5.5).
void dynamic_config(Api&, Call call) {
  call.reply.send(json_response("{\"refresh_interval_sec\":300,\"sample_cancel_enabled\":true}"));
}

void healthz(Api&, Call call) { call.reply.send(json_response("{\"status\":\"ok\"}")); }

void server_capabilities(Api& api, Call call) {
  call.reply.send(
      json_response("{\"supported_models\":[{\"model_name\":" + json_text(api.shared.settings.base_model.get()) + "}]}"));
}

// The posts carry API keys in clear (wire.md §3.6): they are counted and dropped, never looked into (cases.md C8).
void telemetry(Api& api, Call call) {
  api.shared.metrics.telemetry_dropped.add();
  call.reply.send(json_response("{\"status\":\"accepted\"}"));
}

void root(Api&, Call call) {
  std::string body = "{\"name\":\"Tinker API\",\"version\":\"" TINKER_VERSION "\",\"endpoints\":[";
  for (const Route& route : routes()) {
    if (body.back() != '[') body += ',';
    body += json_text(std::string(route.method) + " " + std::string(route.path));
  }
  call.reply.send(json_response(body + "]}"));
}

}  // namespace tinker::api
