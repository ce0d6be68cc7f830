// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tinker::codec {

// The JSON form of a sample result that clients up to 0.18.0 read (wire.md §8.2), from SampleResponse bytes:
// {"type":"sample","sequences":[{"stop_reason","tokens","logprobs"}],"prompt_logprobs","topk_prompt_logprobs"}. NaN becomes
// null.
base::Result<std::string> sample_json(std::string_view sample_response);

}  // namespace tinker::codec
