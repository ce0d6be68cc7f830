// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "codec/json_cursor.h"

namespace tinker::codec {

struct CompletionWants;

// vLLM's `prompt_logprobs` of a choice, on their way into SampleResponse: null for the first token, then an object a token,
// {"ID":{"logprob":x,"rank":r,"decoded_token":s},…}, the prompt's own token first (vectors/vllm/README.md §1).
class PromptLogprobs {
 public:
  // Takes the list, or null, that is next. False when it is neither.
  bool read(JsonCursor& cursor, const CompletionWants& wants);
  bool present() const { return present_; }

  // What append_to() will need, about.
  std::size_t message_size(const CompletionWants& wants) const;
  // Appends fields 2 and, with top-k, 3 of SampleResponse. Positions that have no logprob, and those before the last
  // prompt_logprobs_last_n, are NaN, their top-k cells unused (wire.md §6).
  void append_to(base::Buffer& sample_response, const CompletionWants& wants) const;

 private:
  using Entry = std::pair<std::int32_t, float>;  // token, logprob
  static bool read_row(JsonCursor& cursor, std::vector<Entry>& row);
  std::size_t widest_row() const;

  bool present_ = false;
  std::vector<float> own_;                // [prompt]
  std::vector<std::vector<Entry>> topk_;  // [prompt], each at most k, the most likely first
};

}  // namespace tinker::codec
