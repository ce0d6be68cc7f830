// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "http/message.h"

namespace tinker::api {

// The HTTP status of an error.
int status_of(base::Code code);

// An error as clients know it: {"detail": text}, or for Code::unprocessable with faults {"detail": [fault…]}
// (server-contract.md §1.1). 429 and 503 carry Retry-After.
http::Response error_response(const base::Error& error);

// {"detail": text}
http::Response detail_response(int status, std::string_view text);

// A JSON body.
http::Response json_response(std::string body, int status = 200);

// `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, for it is the text of others.
std::string json_text(std::string_view text);

}  // namespace tinker::api
