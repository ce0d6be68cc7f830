// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace tinker::codec {

// A validated body of POST /api/v1/asample (wire.md §3.2). Defaults are filled in: temperature 1, top_k -1, top_p 1 (§8.3).
struct SampleRequest {
  std::string sampling_session_id;     // empty: base_model or model_path says what to sample
  std::optional<std::int64_t> seq_id;  // present when sampling_session_id is
  std::optional<std::string> base_model;
  std::optional<std::string> model_path;

  std::vector<std::int32_t> prompt_tokens;  // [n], all text chunks in order; may be empty
  std::uint32_t num_samples = 1;

  std::uint32_t max_tokens = 0;     // > 0
  std::optional<std::string> seed;  // decimal text: any integer travels (design.md §4)
  double temperature = 1.0;         // finite, >= 0
  std::int64_t top_k = -1;          // -1 or 0: no limit
  double top_p = 1.0;               // in (0, 1]
  // stop: absent = stop at EOS; an empty list = stop at nothing, not even EOS.
  std::variant<std::monostate, std::vector<std::string>, std::vector<std::int32_t>> stop;
  bool ignore_eos = false;  // `stop` was an empty list

  bool prompt_logprobs = false;
  std::uint32_t topk_prompt_logprobs = 0;
  std::optional<std::uint32_t> prompt_logprobs_last_n;  // positions before the last n are NaN
};

// Parses and checks an asample body.
//
// Errors: unprocessable with faults in the peer's 422 shape (server-contract.md §1.1) for what is missing or of a wrong type or
// out of range; invalid_argument with the peer's `detail` text for its 400s, and for what we do not do (image chunks, dmel,
// topk_sample_logprobs, target_prompt_logprobs, prompt_alt_tokens_k, record_stability_info): such a parameter is refused by its
// name, never dropped. Lax scalar rules of server-contract.md §1.1 hold. Unknown keys are ignored; null means absent for every
// optional field.
base::Result<SampleRequest> parse_sample_request(std::string_view body);

}  // namespace tinker::codec
