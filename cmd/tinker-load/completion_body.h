// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "tinker-load/asked.h"
#include "tinker-load/sample_key.h"

namespace tinker::load {

// Writes the bodies of answers to POST /v1/completions. What does not depend on the request is made once; a body costs its copy
// and the text of kChecked tokens a choice. Keys and their order are vLLM's (vectors/vllm/README.md §1); a minimal body leaves
// out all but `choices`, and of each choice all but its index, text, token_logprobs, finish_reason and token_ids.
//
// One thread.
class CompletionBody {
 public:
  CompletionBody(Body body, std::size_t output_tokens);

  std::string write(const Asked& asked) const;

 private:
  struct Logprobs;  // the checked ones of a choice, as text

  void write_choice(const Asked& asked, std::uint32_t choice, std::string& json) const;
  void write_tokens(const Asked& asked, std::uint32_t choice, std::string& json) const;
  void write_top_logprobs(const Logprobs& logprobs, std::string& json) const;

  const Body body_;
  const std::size_t output_tokens_;
  const std::size_t checked_;  // of a choice's tokens
  // What follows the checked part of each list, with a comma before; empty for short outputs.
  std::string more_tokens_, more_logprobs_, more_top_logprobs_;
  // Full bodies only: lists that are the same in all choices, and what stands around a checked logprob in top_logprobs.
  std::string text_, text_offsets_, texts_;
  std::array<std::string, kChecked> before_top_, behind_top_;
};

}  // namespace tinker::load
