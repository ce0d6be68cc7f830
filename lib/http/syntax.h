// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "http/message.h"

namespace tinker::http {

// A request that is not answered by a handler: the status, and what is wrong and within which limit.
struct Refusal {
  int status = 400;
  std::string detail;
};

// The first line and the fields of a request. `path` and `query` are as sent; of an absolute target only those two are kept.
struct RequestHead {
  std::string method;
  std::string path;
  std::string query;
  Fields fields;
  int minor = 1;  // HTTP/1.minor
};

struct AnswerHead {
  int status = 0;
  Fields fields;
  int minor = 1;
};

// Parse a whole head: all bytes up to and with the empty line, as HeadScanner found them. HTTP/1.0 and 1.1, by Boost.Beast.
// Syntax only: what the fields mean for the framing of the message is in framing.h.
//
// Refusals of a request: 400, 431 beyond `field_limit` fields, 505 for any other version. The error of an answer says what is
// wrong with it.
tl::expected<RequestHead, Refusal> parse_request_head(std::string_view head, std::size_t field_limit);
tl::expected<AnswerHead, std::string> parse_answer_head(std::string_view head, std::size_t field_limit);

// A character that methods and field names are made of (RFC 9110 §5.6.2).
bool is_token_character(char c);

}  // namespace tinker::http
