// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <utility>

#include "api/api.h"
#include "api/error_reply.h"
#include "api/handlers.h"
#include "codec/completion_request.h"
#include "codec/json_body.h"
#include "codec/sample_request.h"

namespace tinker::api {
namespace {

// The value of X-Session-ID: the sampling session as sent and the sequence number (server-contract.md §4.2).
std::string session_header(const codec::SampleRequest& request) {
  if (!request.seq_id) return {};
  return request.sampling_session_id + ":" + std::to_string(*request.seq_id);
}

// {"future_id":ID,"status":"pending","request_id":ID,"sample_sequence_ids":[…]}: one sequence id for each of num_samples, which
// SDK 0.26 and later require (wire.md §3.2).
std::string promise(base::SampleId id, std::uint32_t num_samples) {
  const std::string text = id.text();
  std::string body =
      "{\"future_id\":\"" + text + "\",\"status\":\"pending\",\"request_id\":\"" + text + "\",\"sample_sequence_ids\":[";
  for (std::uint32_t n = 0; n < num_samples; ++n) {
    if (n > 0) body += ',';
    body += '"' + base::sequence_id(id, n) + '"';
  }
  return body + "]}";
}

// What tells a re-send from another request under the same seq_id: the upstream's body, and what the decoder does with its
// answer.
std::uint64_t content_hash(std::string_view upstream_body, const codec::SampleRequest& request) {
  const std::uint64_t body = std::hash<std::string_view>{}(upstream_body);
  return body * 31 + request.prompt_logprobs_last_n.value_or(0);
}

void admit(Api& api, const codec::SampleRequest& request, const Sampler& sampler, http::Reply& reply) {
  std::string upstream_body = codec::render_completion_request(request, sampler.upstream_model);
  futures::Submission submission{
      .session = sampler.session,
      .sampling_session = {request.sampling_session_id},
      .seq_id = request.seq_id,
      .content_hash = content_hash(upstream_body, request),
      .model = sampler.upstream_model,
      .num_samples = request.num_samples,
  };
  submission.request = base::SharedBytes(std::move(upstream_body));
  forward::Job job{
      .queue = request.sampling_session_id.empty() ? sampler.upstream_model : request.sampling_session_id,
      .session_header = session_header(request),
      .wants = codec::wants_of(request),
  };
  const auto admitted = api.flow.submit(std::move(submission), std::move(job));
  if (!admitted) return reply.send(error_response(admitted.error()));
  reply.set_request_id(admitted->id.text());
  reply.send(json_response(promise(admitted->id, request.num_samples)));
}

}  // namespace

void asample(Api& api, Call call) {
  auto request = codec::parse_sample_request(call.request.body);
  if (!request) return call.reply.send(error_response(request.error()));

  if (request->sampling_session_id.empty() && request->base_model) {
    const std::string model = *request->base_model;
    return admit(api, *request, Sampler{{}, model, model, std::nullopt}, call.reply);
  }
  auto target = std::make_shared<codec::SampleRequest>(std::move(*request));
  auto found = [&api, target, reply = call.reply](base::Result<Samplers::Found> sampler) mutable {
    if (!sampler) return reply.send(error_response(sampler.error()));
    admit(api, *target, **sampler, reply);
  };
  if (target->sampling_session_id.empty()) return api.samplers.of_path(target->model_path.value_or(""), std::move(found));
  api.samplers.of_session({target->sampling_session_id}, std::move(found));
}

// Always a success, for a sample that is unknown or ended too: an abandoned request is nobody's error (wire.md §5.5).
void cancel_future(Api& api, Call call) {
  codec::JsonBody body(call.request.body);
  const std::string text = body.text("request_id");
  if (const auto error = body.error()) return call.reply.send(error_response(*error));
  if (const auto id = base::SampleId::parse(text)) api.flow.cancel(*id);
  call.reply.send(json_response("{}"));
}

}  // namespace tinker::api
