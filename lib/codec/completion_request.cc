// SPDX-License-Identifier: Apache-2.0
#include "codec/completion_request.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <variant>

namespace tinker::codec {
namespace {

using Writer = rapidjson::Writer<rapidjson::StringBuffer>;

void write_text(Writer& json, std::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void write_stop(Writer& json, const SampleRequest& request) {
  if (const auto* texts = std::get_if<std::vector<std::string>>(&request.stop)) {
    json.Key("stop");
    json.StartArray();
    for (const std::string& text : *texts) write_text(json, text);
    json.EndArray();
  } else if (const auto* tokens = std::get_if<std::vector<std::int32_t>>(&request.stop)) {
    json.Key("stop_token_ids");
    json.StartArray();
    for (const std::int32_t token : *tokens) json.Int(token);
    json.EndArray();
  }
}

}  // namespace

std::string render_completion_request(const SampleRequest& request, std::string_view model) {
  rapidjson::StringBuffer buffer(nullptr, 512 + 8 * request.prompt_tokens.size());
  Writer json(buffer);
  json.StartObject();
  json.Key("model");
  write_text(json, model);
  json.Key("prompt");
  json.StartArray();
  for (const std::int32_t token : request.prompt_tokens) json.Int(token);
  json.EndArray();
  json.Key("n");
  json.Uint(request.num_samples);
  json.Key("seed");
  if (request.seed) {
    json.RawValue(request.seed->data(), request.seed->size(), rapidjson::kNumberType);
  } else {
    json.Null();
  }
  json.Key("max_tokens");
  json.Uint(request.max_tokens);
  json.Key("temperature");
  json.Double(request.temperature);
  json.Key("top_p");
  json.Double(request.top_p);
  json.Key("top_k");
  json.Int64(request.top_k);
  json.Key("logprobs");
  json.Int(1);  // the router refuses true
  json.Key("stream");
  json.Bool(false);
  json.Key("return_token_ids");
  json.Bool(true);
  if (request.prompt_logprobs || request.topk_prompt_logprobs > 0) {
    json.Key("prompt_logprobs");
    json.Uint(request.topk_prompt_logprobs);
  }
  write_stop(json, request);
  if (request.ignore_eos) {
    json.Key("ignore_eos");
    json.Bool(true);
  }
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

}  // namespace tinker::codec
