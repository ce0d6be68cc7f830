// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tinker::load {

// What a body of POST /v1/completions asks for, as far as a simulated answer depends on it.
struct Asked {
  std::uint64_t key = 0;  // sample_key.h
  std::uint32_t choices = 1;
  std::size_t prompt_tokens = 0;
  std::string model;             // JSON text between its quotes
  std::string prompt_token_ids;  // JSON text of what the answer shows: the prompt, or null unless `return_token_ids`
};

// Errors are vLLM's 400s: no JSON object, no prompt of token ids, `n` outside 1 to 16384.
base::Result<Asked> read_asked(std::string_view body);

}  // namespace tinker::load
