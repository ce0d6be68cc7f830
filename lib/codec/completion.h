// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/error.h"
#include "codec/sample_request.h"

namespace tinker::codec {

// What the decoder must know of the request whose answer it reads. Small and owned: it outlives the request's body.
struct CompletionWants {
  bool prompt_logprobs = false;
  std::uint32_t topk_prompt_logprobs = 0;
  std::optional<std::uint32_t> prompt_logprobs_last_n;
  std::vector<std::int32_t>
      prompt_tokens;  // only filled when prompt_logprobs: the own logprob is the entry of the prompt's token
  std::uint32_t num_samples = 1;
};
CompletionWants wants_of(const SampleRequest& request);

// A decoded answer.
struct Completion {
  base::SharedBytes sample_response;  // serialised tinker_public.SampleResponse
  std::uint64_t tokens = 0;           // sampled, over all sequences
  bool aborted = false;               // a choice has finish_reason "abort": not a finished sample (cases.md U6)
  bool logprobs_missing = false;      // a logprobs list was absent and became zeros, as the peer does (cases.md U9)
};

// Decodes the JSON body of a 200 of POST /v1/completions straight to SampleResponse bytes (server-contract.md §4.3, §3.5), with
// no object a token. `body` has base::Buffer::kPadding readable bytes behind it.
//
// Every float equals strtof of its text. Strings that look like keys never mislead (cases.md U8).
// Errors (unavailable: the upstream's fault, text bounded to 512 bytes of the body): not JSON, cut short, no choices, token_ids
// null while tokens are due, lengths that differ, a token outside int32.
base::Result<Completion> decode_completion(const base::Buffer& body, const CompletionWants& wants);

}  // namespace tinker::codec
