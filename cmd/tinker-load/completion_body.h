// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tinker-load/sample_key.h"

namespace tinker::load {

// Writes bodies of POST /v1/completions answers. What does not depend on the request is made once; a body costs its copy and
// kChecked tokens a choice. Keys and their order are vLLM's.
//
// One thread.
class CompletionBody {
 public:
  CompletionBody(Body body, std::size_t output_tokens);

  std::string write(std::uint64_t key, std::uint32_t choices, std::string_view model) const;

 private:
  void write_choice(std::uint64_t key, std::uint32_t choice, std::string& json) const;
  void write_numbers(std::uint64_t key, std::uint32_t choice, bool tokens, std::string& json) const;

  const Body body_;
  const std::size_t output_tokens_;
  // What follows the checked part of each list, with a comma before; empty for short outputs.
  std::string more_tokens_, more_logprobs_;
  // The lists of a full body that a forwarder does not need.
  std::string text_, text_offsets_, texts_, top_logprobs_;
};

}  // namespace tinker::load
