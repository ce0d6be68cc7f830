// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace tinker::http {

// "OK" of 200; "Unknown" of a status that RFC 9110 §15 and RFC 6585 do not name.
std::string_view reason_phrase(int status);

// True when an answer of that status never has a body (RFC 9110 §6.4.1).
bool is_bodiless(int status);

// What the connection says with its answer, beside what the handler says.
enum class Persistence { keep, keep_said, close };  // keep_said: HTTP/1.0 clients must be told

// Appends the status line, the fields and the empty line. `server`, `date`, `content-type`, `content-length` and `connection`
// are added here. A CR, LF or NUL in what a handler gave becomes a space, so that no value can end its line.
void append_response_head(std::string& out, const Response& response, Persistence persistence);

// An answer of the server's own: {"detail": "…"}. `detail` must need no JSON escapes.
Response detail_answer(int status, std::string_view detail);

}  // namespace tinker::http
