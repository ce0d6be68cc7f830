// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/tinker_calls.h"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

namespace tinker::load {
namespace {

using Json = rapidjson::Writer<rapidjson::StringBuffer>;

template <class Write>
std::string object(Write write) {
  rapidjson::StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  write(json);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

void put(Json& json, const char* name, std::string_view text) {
  json.Key(name);
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

}  // namespace

std::string create_session_body() {
  return R"({"tags":["tinker-load"],"user_metadata":{},"sdk_version":"tinker-load","type":"create_session"})";
}

std::string create_sampling_session_body(std::string_view session, std::string_view base_model) {
  return object([&](Json& json) {
    put(json, "session_id", session);
    json.Key("sampling_session_seq_id");
    json.Int(0);
    put(json, "base_model", base_model);
    put(json, "type", "create_sampling_session");
  });
}

std::string retrieve_future_body(std::string_view request_id) {
  return object([&](Json& json) {
    put(json, "request_id", request_id);
    json.Key("allow_metadata_only");
    json.Bool(false);
  });
}

std::string asample_body(const AsampleBody& asked) {
  return object([&](Json& json) {
    json.Key("num_samples");
    json.Uint(asked.num_samples);
    json.Key("prompt");
    json.StartObject();
    json.Key("chunks");
    json.StartArray();
    json.StartObject();
    json.Key("tokens");
    json.StartArray();
    for (const std::int32_t token : asked.prompt) json.Int(token);
    json.EndArray();
    put(json, "type", "encoded_text");
    json.EndObject();
    json.EndArray();
    json.EndObject();
    json.Key("sampling_params");
    json.StartObject();
    json.Key("max_tokens");
    json.Uint64(asked.max_tokens);
    json.Key("temperature");
    json.Double(1.0);
    json.Key("top_k");
    json.Int(-1);
    json.Key("top_p");
    json.Double(1.0);
    json.EndObject();
    put(json, "sampling_session_id", asked.sampling_session);
    json.Key("seq_id");
    json.Uint64(asked.seq_id);
    json.Key("prompt_logprobs");
    json.Bool(false);
    json.Key("topk_prompt_logprobs");
    json.Int(0);
    put(json, "type", "sample");
  });
}

std::string text_member(std::string_view json, const char* name) {
  rapidjson::Document document;
  document.Parse(json.data(), json.size());
  if (document.HasParseError() || !document.IsObject()) return {};
  const auto member = document.FindMember(name);
  if (member == document.MemberEnd() || !member->value.IsString()) return {};
  return {member->value.GetString(), member->value.GetStringLength()};
}

}  // namespace tinker::load
