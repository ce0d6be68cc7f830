// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"
#include "codec/sample_request.h"

namespace tinker::codec {

// What the decoder must know of the request whose answer it reads. Owned: it outlives the request's body.
struct CompletionWants {
  std::uint32_t num_samples = 1;
  bool prompt_logprobs = false;
  std::uint32_t topk_prompt_logprobs = 0;
  std::optional<std::uint32_t> prompt_logprobs_last_n;
  std::vector<std::int32_t> prompt_tokens;  // [prompt], only with prompt_logprobs: a row's own logprob is that of its token
};
CompletionWants wants_of(const SampleRequest& request);

// A decoded answer.
struct Completion {
  base::SharedBytes sample_response;  // serialised tinker_public.SampleResponse
  std::uint64_t tokens = 0;           // sampled, over all sequences
  bool aborted = false;               // a choice has finish_reason "abort": not a finished sample (cases.md U6)
  // A list of logprobs was absent: those of tokens became zeros, those of the prompt are left out, as the peer does (cases.md
  // U9).
  bool logprobs_missing = false;
};

// Decodes the JSON body of a 200 of POST /v1/completions straight to SampleResponse bytes (server-contract.md §4.3, §3.5), with
// no object a token. `body` has base::Buffer::kPadding readable bytes behind it, as every Buffer has.
//
// Sequences stand in the order of their `index`. Every float equals strtof of its text. Strings that look like keys never
// mislead (cases.md U8). Errors (unavailable: the upstream's fault; the text has at most 512 bytes of the body): not JSON, cut
// short, another number of choices than was asked for, token_ids absent or null, lengths that differ, a token outside int32
// (U9).
base::Result<Completion> decode_completion(const base::Buffer& body, const CompletionWants& wants);

}  // namespace tinker::codec
