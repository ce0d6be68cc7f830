// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "codec/sample_request.h"

namespace tinker::codec {

// The body of POST /v1/completions for `request`, keys in the order of server-contract.md §4.2; `model` is the name that the
// upstream serves. A `stop` that was an empty list becomes "ignore_eos":true, vLLM's word for it, at the end.
std::string render_completion_request(const SampleRequest& request, std::string_view model);

}  // namespace tinker::codec
