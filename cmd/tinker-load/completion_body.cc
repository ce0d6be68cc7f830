// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/completion_body.h"

#include <algorithm>
#include <charconv>

namespace tinker::load {
namespace {

template <class Number>
void append(Number number, std::string& json) {
  char text[64];
  json.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

// As vLLM shows a float: widened to double, the shortest text, with a point or an exponent.
void append_logprob(Body body, float logprob, std::string& json) {
  const std::size_t begin = json.size();
  if (body == Body::full) {
    append(static_cast<double>(logprob), json);
  } else {
    append(logprob, json);
  }
  if (json.find_first_of(".e", begin) == std::string::npos) json += ".0";
}

// The text of token `i`: a syllable or two, now and then what JSON escapes.
std::string text_of(std::size_t i) {
  static constexpr const char* kTexts[] = {" the", "ing", " remege", "D",    " vuze",     "kace",
                                           "\\n",  " ja", "\\\"",    "ciji", " gadulote", "é"};
  return kTexts[mix(i + 77) % std::size(kTexts)];
}

}  // namespace

CompletionBody::CompletionBody(Body body, std::size_t output_tokens) : body_(body), output_tokens_(output_tokens) {
  for (std::size_t i = kChecked; i < output_tokens; ++i) {
    more_tokens_ += ',';
    append(token_at(0, 0, i), more_tokens_);
    more_logprobs_ += ',';
    append_logprob(body, logprob_at(body, 0, 0, i), more_logprobs_);
  }
  if (body == Body::minimal) return;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < output_tokens; ++i) {
    const std::string text = text_of(i);
    if (i > 0) {
      text_offsets_ += ',';
      texts_ += ',';
      top_logprobs_ += ',';
    }
    append(offset, text_offsets_);
    offset += text.size();
    text_ += text;
    texts_ += '"' + text + '"';
    top_logprobs_ += "{\"" + text + "\":";
    append_logprob(body, logprob_at(body, 0, 0, i + kChecked), top_logprobs_);
    if (mix(i) % 4 != 0) {
      top_logprobs_ += ",\"" + text_of(i + 1) + "x\":";
      append_logprob(body, logprob_at(body, 1, 0, i + kChecked + 1), top_logprobs_);
    }
    top_logprobs_ += '}';
  }
}

std::string CompletionBody::write(std::uint64_t key, std::uint32_t choices, std::string_view model) const {
  std::string json;
  const std::size_t choice_size = 512 + more_tokens_.size() + more_logprobs_.size() + text_.size() + text_offsets_.size() +
                                  texts_.size() + top_logprobs_.size() + 40 * kChecked;
  json.reserve(512 + choices * choice_size);
  json += R"({"id":"cmpl-)";
  append(key, json);
  json += R"(","object":"text_completion","created":1796110753,"model":")";
  json += model;
  json += R"(","choices":[)";
  for (std::uint32_t choice = 0; choice < choices; ++choice) {
    if (choice > 0) json += ',';
    write_choice(key, choice, json);
  }
  json += R"(],"service_tier":null,"system_fingerprint":"tinker-load","usage":{"prompt_tokens":)";
  append(kKeyTokens, json);
  json += R"(,"total_tokens":)";
  append(kKeyTokens + choices * output_tokens_, json);
  json += R"(,"completion_tokens":)";
  append(choices * output_tokens_, json);
  json +=
      R"(,"prompt_tokens_details":null,"completion_tokens_details":null},"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null})";
  return json;
}

void CompletionBody::write_choice(std::uint64_t key, std::uint32_t choice, std::string& json) const {
  json += R"({"index":)";
  append(choice, json);
  json += R"(,"text":")" + text_ + R"(","logprobs":{)";
  if (body_ == Body::full) json += R"("text_offset":[)" + text_offsets_ + "],";
  json += R"("token_logprobs":[)";
  write_numbers(key, choice, false, json);
  json += ']';
  if (body_ == Body::full) json += R"(,"tokens":[)" + texts_ + R"(],"top_logprobs":[)" + top_logprobs_ + "]";
  json += stops(key, choice) ? R"(},"finish_reason":"stop","stop_reason":null,"token_ids":[)"
                             : R"(},"finish_reason":"length","stop_reason":null,"token_ids":[)";
  write_numbers(key, choice, true, json);
  json += R"(],"prompt_logprobs":null,"prompt_token_ids":null,"routed_experts":null})";
}

void CompletionBody::write_numbers(std::uint64_t key, std::uint32_t choice, bool tokens, std::string& json) const {
  for (std::size_t i = 0; i < std::min(kChecked, output_tokens_); ++i) {
    if (i > 0) json += ',';
    if (tokens) {
      append(token_at(key, choice, i), json);
    } else {
      append_logprob(body_, logprob_at(body_, key, choice, i), json);
    }
  }
  json += tokens ? more_tokens_ : more_logprobs_;
}

}  // namespace tinker::load
