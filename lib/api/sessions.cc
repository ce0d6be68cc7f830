// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "api/api.h"
#include "api/error_reply.h"
#include "api/handlers.h"
#include "api/tinker_path.h"
#include "codec/json_body.h"

namespace tinker::api {
namespace {

// `text` as a JSON string, or null.
std::string json_or_null(const std::optional<std::string>& text) { return text ? json_text(*text) : "null"; }

// Both or neither of base_model and model_path; the peer looks for the session first.
void refuse_source(Api& api, base::SessionId session, http::Reply reply) {
  api.shared.db.find_session(std::move(session), api.loop, [reply](base::Result<bool> found) mutable {
    if (!found) return reply.send(error_response(found.error()));
    if (!*found) return reply.send(detail_response(404, "Session not found"));
    reply.send(detail_response(400, "Exactly one of base_model or model_path must be provided"));
  });
}

}  // namespace

void create_session(Api& api, Call call) {
  codec::JsonBody body(call.request.body);
  store::SessionRow row{.id = {base::random_id("session_")}};
  row.tags_json = body.text_list_json("tags");
  row.user_metadata_json = body.optional_object_json("user_metadata").value_or("{}");
  row.sdk_version = body.text("sdk_version");
  body.literal("type", "create_session");
  if (const auto error = body.error()) return call.reply.send(error_response(*error));

  std::string answer =
      "{\"type\":\"create_session\",\"info_message\":null,\"warning_message\":null,\"error_message\":null,\"session_id\":" +
      json_text(row.id.text) + "}";
  api.shared.db.insert_session(std::move(row), api.loop,
                               [reply = call.reply, answer = std::move(answer)](base::Result<void> done) mutable {
                                 reply.send(done ? json_response(std::move(answer)) : error_response(done.error()));
                               });
}

void session_heartbeat(Api& api, Call call) {
  codec::JsonBody body(call.request.body);
  base::SessionId id{body.text("session_id")};
  body.literal("type", "session_heartbeat");
  if (const auto error = body.error()) return call.reply.send(error_response(*error));

  api.shared.db.heartbeat(std::move(id), api.loop, [reply = call.reply](base::Result<void> done) mutable {
    reply.send(done ? json_response("{\"type\":\"session_heartbeat\"}") : error_response(done.error()));
  });
}

// The client is done. Its row stays as it is: the engine unloads the models of a session whose heartbeats have stopped, and
// looks only at active ones (server-contract.md §3.6).
void finish_session(Api& api, Call call) {
  api.shared.db.find_session({call.id}, api.loop, [reply = call.reply](base::Result<bool> found) mutable {
    if (!found) return reply.send(error_response(found.error()));
    if (!*found) return reply.send(detail_response(404, "Session not found"));
    reply.send({.status = 204, .content_type = ""});
  });
}

void create_sampling_session(Api& api, Call call) {
  codec::JsonBody body(call.request.body);
  store::SamplingSessionRow row{.id = {base::random_id("sampling_")}};
  row.session.text = body.text("session_id");
  row.sampling_session_seq_id = body.integer("sampling_session_seq_id");
  row.base_model = body.optional_text("base_model");
  row.model_path = body.optional_text("model_path");
  body.literal("type", "create_sampling_session");
  if (const auto error = body.error()) return call.reply.send(error_response(*error));

  if (row.base_model.has_value() == row.model_path.has_value()) return refuse_source(api, std::move(row.session), call.reply);
  api.shared.db.insert_sampling_session(row, api.loop, [&api, reply = call.reply, row](base::Result<void> done) mutable {
    if (!done) return reply.send(error_response(done.error()));
    api.samplers.made(row);
    reply.send(json_response("{\"type\":\"create_sampling_session\",\"sampling_session_id\":" + json_text(row.id.text) + "}"));
  });
}

// A clone of a sampling client gets a number of its own among the session's clients (wire.md §3.2, seq_id).
void join_sampling_session(Api& api, Call call) {
  codec::JsonBody body(call.request.body);
  const base::SamplingSessionId id{body.text("sampling_session_id")};
  body.literal("type", "join_sampling_session");
  if (const auto error = body.error()) return call.reply.send(error_response(*error));

  api.shared.db.find_sampling_session(
      id, api.loop, [&api, reply = call.reply](base::Result<std::optional<store::SamplingSessionRow>> row) mutable {
        if (!row) return reply.send(error_response(row.error()));
        if (!*row) return reply.send(detail_response(404, "Sampling session not found"));
        constexpr std::int64_t kLargest = 1'000'000'000;
        const std::int64_t counter = api.shared.client_counter++ % kLargest + 1;
        reply.send(json_response("{\"type\":\"join_sampling_session\",\"client_counter\":" + std::to_string(counter) + "}"));
      });
}

// The base model of a sampler; the weights' own when they were trained, ready or not (server-contract.md §1.3 (7)).
void get_sampler(Api& api, Call call) {
  const auto answer = [](const std::string& id, const std::string& base_model, const std::optional<std::string>& model_path) {
    return json_response("{\"sampler_id\":" + json_text(id) + ",\"base_model\":" + json_text(base_model) +
                         ",\"model_path\":" + json_or_null(model_path) + "}");
  };
  api.shared.db.find_sampling_session(
      {call.id}, api.loop,
      [&api, answer, id = call.id, reply = call.reply](base::Result<std::optional<store::SamplingSessionRow>> row) mutable {
        if (!row) return reply.send(error_response(row.error()));
        if (!*row) return reply.send(detail_response(404, "Sampler not found"));
        if ((*row)->base_model) return reply.send(answer(id, *(*row)->base_model, (*row)->model_path));
        const auto path = parse_sampler_path((*row)->model_path.value_or(""));
        if (!path)
          return reply.send(detail_response(
              400, "the sampler's model_path '" + (*row)->model_path.value_or("") + "' is no path of sampler weights"));
        api.shared.db.find_model(
            path->model_id, api.loop,
            [answer, id, reply, model_path = (*row)->model_path](base::Result<std::optional<store::ModelRow>> model) mutable {
              if (!model) return reply.send(error_response(model.error()));
              if (!*model) return reply.send(detail_response(404, "Model not found"));
              reply.send(answer(id, (*model)->base_model, model_path));
            });
      });
}

}  // namespace tinker::api
