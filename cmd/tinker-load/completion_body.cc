// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/completion_body.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace tinker::load {
namespace {

template <class Number>
void append(Number number, std::string& json) {
  char text[64];
  json.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

void append_logprob(Body body, float logprob, std::string& json) {
  const std::size_t begin = json.size();
  switch (body) {
    case Body::minimal:
      append(logprob, json);
      break;
    case Body::full:  // as vLLM shows a float: widened to double, the shortest text
      append(static_cast<double>(logprob), json);
      break;
  }
  if (json.find_first_of(".e", begin) == std::string::npos) json += ".0";
}

// The text of a token.
struct Text {
  std::string_view json;
  std::size_t characters;  // that a reader of the JSON gets
};

// A syllable or two, now and then what JSON escapes, none at all, or more bytes than characters.
Text text_of(std::size_t i) {
  static constexpr Text kTexts[] = {{" the", 4}, {"ing", 3},  {" remege", 7}, {"D", 1}, {" vuze", 5}, {"kace", 4},   {"\\n", 1},
                                    {" ja", 3},  {"\\\"", 1}, {"ciji", 4},    {"", 0},  {"éwa", 3},   {"\\u0007", 1}};
  return kTexts[mix(i + 77) % std::size(kTexts)];
}

// Another token that was likelier than the one sampled, with its logprob; or none, when that one was the likeliest.
std::string alternative_at(std::size_t i) {
  if (mix(i) % 2 == 0) return {};
  std::string json = ",\" " + std::string(text_of(i + 1).json) + "x\":";
  append_logprob(Body::full, logprob_at(Body::full, 1, 0, kChecked + i), json);
  return json;
}

}  // namespace

struct CompletionBody::Logprobs {
  Logprobs(Body body, std::uint64_t key, std::uint32_t choice, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      begins[i] = text.size();
      append_logprob(body, logprob_at(body, key, choice, i), text);
      ends[i] = text.size();
      if (i + 1 < count) text += ',';
    }
  }
  std::string_view at(std::size_t i) const { return std::string_view(text).substr(begins[i], ends[i] - begins[i]); }

  std::string text;  // with commas between
  std::array<std::size_t, kChecked> begins{}, ends{};
};

CompletionBody::CompletionBody(Body body, std::size_t output_tokens)
    : body_(body), output_tokens_(output_tokens), checked_(std::min(kChecked, output_tokens)) {
  for (std::size_t i = kChecked; i < output_tokens; ++i) {
    more_tokens_ += ',';
    append(token_at(0, 0, i), more_tokens_);
    more_logprobs_ += ',';
    append_logprob(body, logprob_at(body, 0, 0, i), more_logprobs_);
  }
  if (body == Body::minimal) return;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < output_tokens; ++i) {
    const Text text = text_of(i);
    const std::string comma = i == 0 ? "" : ",";
    const std::string before = comma + "{\"" + std::string(text.json) + "\":";
    text_ += text.json;
    text_offsets_ += comma;
    append(offset, text_offsets_);
    texts_ += comma + '"' + std::string(text.json) + '"';
    offset += text.characters;
    if (i < kChecked) {
      before_top_[i] = before;
      behind_top_[i] = alternative_at(i) + '}';
    } else {
      more_top_logprobs_ += before;
      append_logprob(body, logprob_at(body, 0, 0, i), more_top_logprobs_);
      more_top_logprobs_ += alternative_at(i) + '}';
    }
  }
}

std::string CompletionBody::write(const Asked& asked) const {
  std::string json;
  const std::size_t choice_bytes = 512 + more_tokens_.size() + more_logprobs_.size() + text_.size() + text_offsets_.size() +
                                   texts_.size() + more_top_logprobs_.size() + asked.prompt_token_ids.size() + 120 * checked_;
  json.reserve(512 + asked.choices * choice_bytes);
  if (body_ == Body::full) {
    json += R"({"id":"cmpl-)";
    append(asked.key, json);
    json += R"(","object":"text_completion","created":1796110753,"model":")";
    json += asked.model;
    json += R"(",)";
  } else {
    json += '{';
  }
  json += R"("choices":[)";
  for (std::uint32_t choice = 0; choice < asked.choices; ++choice) {
    if (choice > 0) json += ',';
    write_choice(asked, choice, json);
  }
  json += ']';
  if (body_ == Body::full) {
    json += R"(,"service_tier":null,"system_fingerprint":"tinker-load","usage":{"prompt_tokens":)";
    append(asked.prompt_tokens, json);
    json += R"(,"total_tokens":)";
    append(asked.prompt_tokens + asked.choices * output_tokens_, json);
    json += R"(,"completion_tokens":)";
    append(asked.choices * output_tokens_, json);
    json += R"(,"prompt_tokens_details":null,"completion_tokens_details":null},)";
    json += R"("kv_transfer_params":null,"ec_transfer_params":null,"metrics":null)";
  }
  json += '}';
  return json;
}

void CompletionBody::write_choice(const Asked& asked, std::uint32_t choice, std::string& json) const {
  const Logprobs logprobs(body_, asked.key, choice, checked_);
  json += R"({"index":)";
  append(choice, json);
  json += R"(,"text":")";
  json += text_;
  json += R"(","logprobs":{)";
  if (body_ == Body::full) {
    json += R"("text_offset":[)";
    json += text_offsets_;
    json += "],";
  }
  json += R"("token_logprobs":[)";
  json += logprobs.text;
  json += more_logprobs_;
  json += ']';
  if (body_ == Body::full) {
    json += R"(,"tokens":[)";
    json += texts_;
    json += R"(],"top_logprobs":[)";
    write_top_logprobs(logprobs, json);
    json += ']';
  }
  json += stops(asked.key, choice) ? R"(},"finish_reason":"stop")" : R"(},"finish_reason":"length")";
  if (body_ == Body::full) json += R"(,"stop_reason":null)";
  json += R"(,"token_ids":[)";
  write_tokens(asked, choice, json);
  json += ']';
  if (body_ == Body::full) {
    json += R"(,"prompt_logprobs":null,"prompt_token_ids":)";
    json += asked.prompt_token_ids;
    json += R"(,"routed_experts":null)";
  }
  json += '}';
}

void CompletionBody::write_tokens(const Asked& asked, std::uint32_t choice, std::string& json) const {
  for (std::size_t i = 0; i < checked_; ++i) {
    if (i > 0) json += ',';
    append(token_at(asked.key, choice, i), json);
  }
  json += more_tokens_;
}

void CompletionBody::write_top_logprobs(const Logprobs& logprobs, std::string& json) const {
  for (std::size_t i = 0; i < checked_; ++i) {
    json += before_top_[i];
    json += logprobs.at(i);
    json += behind_top_[i];
  }
  json += more_top_logprobs_;
}

}  // namespace tinker::load
