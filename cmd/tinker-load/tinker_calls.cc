// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/tinker_calls.h"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <charconv>
#include <set>

namespace tinker::load {
namespace {

// A text with its quotes and escapes.
std::string text_json(std::string_view text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  return {buffer.GetString(), buffer.GetSize()};
}

template <class Number>
void append(Number number, std::string& json) {
  char text[24];
  json.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

}  // namespace

std::string create_session_body() {
  return R"({"tags":["tinker-load"],"user_metadata":{},"sdk_version":"tinker-load","type":"create_session"})";
}

std::string create_sampling_session_body(std::string_view session, std::string_view base_model) {
  return R"({"session_id":)" + text_json(session) + R"(,"sampling_session_seq_id":0,"base_model":)" + text_json(base_model) +
         R"(,"type":"create_sampling_session"})";
}

std::string retrieve_future_body(std::string_view request_id) {
  return R"({"request_id":)" + text_json(request_id) + R"(,"allow_metadata_only":false})";
}

std::string retrieve_futures_body(std::string_view sampling_session, std::uint64_t prev_cursor, bool at_once,
                                  std::span<const std::string> retrieved) {
  std::string json = R"({"target":{"type":"sampling_session","sampling_session_id":)" + text_json(sampling_session) +
                     R"(,"cloned_sampler_id":0},"prev_cursor":)" + std::to_string(prev_cursor) +
                     (at_once ? R"(,"timeout":0.0)" : "") + R"(,"retrieved_request_ids":[)";
  for (const std::string& request_id : retrieved) json += text_json(request_id) + ',';
  if (!retrieved.empty()) json.pop_back();
  return json + "]}";
}

Promise read_promise(std::string_view json, std::uint32_t num_samples) {
  rapidjson::Document document;
  document.Parse(json.data(), json.size());
  if (document.HasParseError() || !document.IsObject()) return {};
  Promise promise;
  const auto id = document.FindMember("request_id");
  if (id != document.MemberEnd() && id->value.IsString())
    promise.request_id.assign(id->value.GetString(), id->value.GetStringLength());
  const auto found = document.FindMember("sample_sequence_ids");
  promise.has_sequence_ids = found != document.MemberEnd() && !found->value.IsNull();
  if (!promise.has_sequence_ids || !found->value.IsArray() || found->value.Size() != num_samples) return promise;
  std::set<std::string_view> ids;
  for (const auto& one : found->value.GetArray()) {
    if (one.IsString() && one.GetStringLength() > 0) ids.insert({one.GetString(), one.GetStringLength()});
  }
  promise.fits = ids.size() == num_samples;
  return promise;
}

std::optional<Completions> read_completions(std::string_view json) {
  rapidjson::Document document;
  document.Parse(json.data(), json.size());
  if (document.HasParseError() || !document.IsObject()) return std::nullopt;
  const auto cursor = document.FindMember("cursor");
  const auto list = document.FindMember("completions");
  if (cursor == document.MemberEnd() || !cursor->value.IsUint64()) return std::nullopt;
  if (list == document.MemberEnd() || !list->value.IsArray()) return std::nullopt;
  Completions completions{.cursor = cursor->value.GetUint64(), .request_ids = {}};
  for (const auto& one : list->value.GetArray()) {
    if (!one.IsObject()) return std::nullopt;
    const auto id = one.FindMember("request_id");
    if (id == one.MemberEnd() || !id->value.IsString()) return std::nullopt;
    completions.request_ids.emplace_back(id->value.GetString(), id->value.GetStringLength());
  }
  return completions;
}

AsampleBody::AsampleBody(std::string_view sampling_session, std::uint32_t num_samples, std::size_t max_tokens)
    : before_prompt_(R"({"num_samples":)" + std::to_string(num_samples) + R"(,"prompt":{"chunks":[{"tokens":[)"),
      before_seq_id_(R"(],"type":"encoded_text"}]},"sampling_params":{"max_tokens":)" + std::to_string(max_tokens) +
                     R"(,"temperature":1.0,"top_k":-1,"top_p":1.0},"sampling_session_id":)" + text_json(sampling_session) +
                     R"(,"seq_id":)") {}

std::string AsampleBody::write(std::uint64_t seq_id, std::span<const std::int32_t> prompt) const {
  static constexpr std::string_view kRest = R"(,"prompt_logprobs":false,"topk_prompt_logprobs":0,"type":"sample"})";
  std::string json;
  json.reserve(before_prompt_.size() + 12 * prompt.size() + before_seq_id_.size() + 20 + kRest.size());
  json += before_prompt_;
  for (const std::int32_t token : prompt) {
    append(token, json);
    json += ',';
  }
  if (!prompt.empty()) json.pop_back();
  json += before_seq_id_;
  append(seq_id, json);
  json += kRest;
  return json;
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
