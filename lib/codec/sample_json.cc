// SPDX-License-Identifier: Apache-2.0
#include "codec/sample_json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tinker_public.pb.h"

namespace tinker::codec {
namespace {

using base::Code;
using base::fail;

template <class Number>
Number at(std::string_view bytes, std::size_t index) {
  Number number;
  std::memcpy(&number, bytes.data() + index * sizeof number, sizeof number);
  return number;
}

void append_token(std::string_view tokens, std::size_t index, std::string& json) {
  std::array<char, 16> text;
  json.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), at<std::int32_t>(tokens, index)).ptr);
}

// The float32 widened to double, in the shortest text that reads back as that, as the upstream writes it; null for NaN.
// Infinity, which JSON cannot hold, is the largest finite double.
void append_logprob(std::string_view logprobs, std::size_t index, std::string& json) {
  const float logprob = at<float>(logprobs, index);
  if (std::isnan(logprob)) {
    json += "null";
    return;
  }
  if (std::isinf(logprob)) {
    json += logprob > 0 ? "1.7976931348623157e308" : "-1.7976931348623157e308";
    return;
  }
  std::array<char, 64> text;
  const char* end = std::to_chars(text.data(), text.data() + text.size(), static_cast<double>(logprob)).ptr;
  const std::string_view shown(text.data(), static_cast<std::size_t>(end - text.data()));
  json += shown;
  if (shown.find_first_of(".e") == std::string_view::npos) json += ".0";
}

template <class Append>
void append_list(std::string_view numbers, Append append, std::string& json) {
  json += '[';
  for (std::size_t i = 0; i < numbers.size() / 4; ++i) {
    if (i > 0) json += ',';
    append(numbers, i, json);
  }
  json += ']';
}

void append_sequence(const tinker_public::SampledSequence& sequence, std::string& json) {
  json += sequence.stop_reason() == tinker_public::STOP_REASON_STOP ? R"({"stop_reason":"stop","tokens":)"
                                                                    : R"({"stop_reason":"length","tokens":)";
  append_list(sequence.tokens(), append_token, json);
  json += ",\"logprobs\":";
  if (sequence.has_logprobs()) {
    append_list(sequence.logprobs(), append_logprob, json);
  } else {
    json += "null";
  }
  json += '}';
}

// A row of [token, logprob] pairs; trailing unused cells are left out, a row whose first cell is unused is null (wire.md §6).
void append_topk_row(const tinker_public::TopkLogprobs& topk, std::size_t row, std::string& json) {
  constexpr float kUnused = -99999.0F;
  const std::size_t first = row * topk.k();
  if (at<float>(topk.logprobs(), first) == kUnused) {
    json += "null";
    return;
  }
  std::size_t used = topk.k();
  while (at<float>(topk.logprobs(), first + used - 1) == kUnused) --used;
  json += '[';
  for (std::size_t j = 0; j < used; ++j) {
    json += j > 0 ? ",[" : "[";
    append_token(topk.token_ids(), first + j, json);
    json += ',';
    append_logprob(topk.logprobs(), first + j, json);
    json += ']';
  }
  json += ']';
}

}  // namespace

base::Result<std::string> sample_json(std::string_view sample_response) {
  tinker_public::SampleResponse response;
  if (!response.ParseFromArray(sample_response.data(), static_cast<int>(sample_response.size()))) {
    return fail(Code::internal, "a stored result is no SampleResponse");
  }
  std::string json;
  json.reserve(4 * sample_response.size());
  json += R"({"type":"sample","sequences":[)";
  for (const auto& sequence : response.sequences()) {
    if (json.back() != '[') json += ',';
    append_sequence(sequence, json);
  }
  json += "],\"prompt_logprobs\":";
  if (response.has_prompt_logprobs()) {
    append_list(response.prompt_logprobs(), append_logprob, json);
  } else {
    json += "null";
  }
  json += ",\"topk_prompt_logprobs\":";
  const auto& topk = response.topk_prompt_logprobs();
  const std::size_t cells = std::size_t{topk.k()} * topk.length();
  if (cells == 0) {
    json += "null";
  } else if (topk.token_ids().size() != cells * 4 || topk.logprobs().size() != cells * 4) {
    return fail(Code::internal, "a stored result has top-k logprobs of another size than it says");
  } else {
    json += '[';
    for (std::size_t row = 0; row < topk.length(); ++row) {
      if (row > 0) json += ',';
      append_topk_row(topk, row, json);
    }
    json += ']';
  }
  return json + "}";
}

}  // namespace tinker::codec
