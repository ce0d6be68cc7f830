// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "forward/upstream_url.h"

namespace tinker::forward {

inline constexpr std::string_view kCompletionsPath = "/v1/completions";

// The head of a completion request, up to and with the empty line (server-contract.md §4.2): POST, Host, Content-Type,
// Content-Length, X-Session-ID unless `session_header` is empty, Accept, User-Agent. No Accept-Encoding: a compressed answer
// would cost more to unpack than it saves on a local network.
//
// Control characters of `session_header` become '_', for it holds an id that a client chose and would otherwise add lines to
// our request.
std::string completion_request_head(const UpstreamUrl& url, std::string_view session_header, std::size_t body_bytes);

}  // namespace tinker::forward
