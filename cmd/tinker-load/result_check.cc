// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/result_check.h"

#include <algorithm>
#include <cstring>

#include "tinker_public.pb.h"

namespace tinker::load {
namespace {

template <class Number>
void append(Number number, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

ResultCheck::ResultCheck(Body body, std::size_t output_tokens, std::uint32_t num_samples)
    : body_(body), output_tokens_(output_tokens), num_samples_(num_samples) {
  for (std::size_t i = kChecked; i < output_tokens_; ++i) {
    append(token_at(0, 0, i), more_tokens_);
    append(logprob_at(body_, 0, 0, i), more_logprobs_);
  }
}

std::string ResultCheck::fault(std::uint64_t key, std::string_view sample_response) const {
  tinker_public::SampleResponse response;
  if (!response.ParseFromArray(sample_response.data(), static_cast<int>(sample_response.size())))
    return "no SampleResponse in " + std::to_string(sample_response.size()) + " bytes";
  if (response.sequences_size() != static_cast<int>(num_samples_))
    return std::to_string(response.sequences_size()) + " sequences, expected " + std::to_string(num_samples_);
  for (std::uint32_t choice = 0; choice < num_samples_; ++choice) {
    const tinker_public::SampledSequence& sequence = response.sequences(static_cast<int>(choice));
    std::string fault = sequence_fault(key, choice, sequence.tokens(), sequence.logprobs());
    const bool stopped = sequence.stop_reason() == tinker_public::STOP_REASON_STOP;
    if (fault.empty() && stopped != stops(key, choice)) fault = "the stop reason of another request";
    if (!fault.empty()) return "sequence " + std::to_string(choice) + ": " + fault;
  }
  return {};
}

std::string ResultCheck::sequence_fault(std::uint64_t key, std::uint32_t choice, std::string_view tokens,
                                        std::string_view logprobs) const {
  static_assert(sizeof(std::int32_t) == 4 && sizeof(float) == 4);
  const auto count_fault = [&](std::string_view bytes, const char* what) {
    return std::to_string(bytes.size() / 4) + " " + what + ", expected " + std::to_string(output_tokens_);
  };
  if (tokens.size() != 4 * output_tokens_) return count_fault(tokens, "tokens");
  if (logprobs.size() != 4 * output_tokens_) return count_fault(logprobs, "logprobs");
  const std::size_t checked = std::min(kChecked, output_tokens_);
  for (std::size_t i = 0; i < checked; ++i) {
    const std::int32_t token = token_at(key, choice, i);
    const float logprob = logprob_at(body_, key, choice, i);
    if (std::memcmp(tokens.data() + 4 * i, &token, 4) != 0) return "token " + std::to_string(i) + " of another request";
    if (std::memcmp(logprobs.data() + 4 * i, &logprob, 4) != 0) return "logprob " + std::to_string(i) + " of another request";
  }
  if (tokens.substr(4 * checked) != more_tokens_) return "a token behind the first " + std::to_string(checked) + " is wrong";
  if (logprobs.substr(4 * checked) != more_logprobs_)
    return "a logprob behind the first " + std::to_string(checked) + " is wrong";
  return {};
}

}  // namespace tinker::load
