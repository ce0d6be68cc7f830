// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tinker-load/sample_key.h"

namespace tinker::load {

// Tells whether a result is the one that `tinker-load router` made for a request, to the last token.
//
// One thread.
class ResultCheck {
 public:
  // `body` and `output_tokens` as the router has them; `num_samples` sequences were asked for.
  ResultCheck(Body body, std::size_t output_tokens, std::uint32_t num_samples);

  // What is wrong with `sample_response`, the bytes of a tinker_public.SampleResponse, as the result of the request with that
  // key: "sequence 0: 15 tokens, expected 16". Empty when nothing is.
  std::string fault(std::uint64_t key, std::string_view sample_response) const;

 private:
  std::string sequence_fault(std::uint64_t key, std::uint32_t choice, std::string_view tokens, std::string_view logprobs) const;

  const Body body_;
  const std::size_t output_tokens_;
  const std::uint32_t num_samples_;
  std::string more_tokens_, more_logprobs_;  // of positions from kChecked on, as in the response
};

}  // namespace tinker::load
