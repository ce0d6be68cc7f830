// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "http/syntax.h"

namespace tinker::http {

enum class BodyKind { none, length, chunked, until_close };

// How a message's body is delimited, and what the message says about its connection.
struct Framing {
  BodyKind body = BodyKind::none;
  std::uint64_t length = 0;      // of BodyKind::length
  bool keep_alive = true;        // by the rules of the message's version (RFC 9112 §9.3)
  bool expect_continue = false;  // the client waits for "100 Continue" before it sends the body
};

// The strict layer above Beast: a message that two programs could frame differently is refused (RFC 9112 §3.2, §6.3; cases.md
// S10). Refused are any Transfer-Encoding but exactly `chunked`, any in HTTP/1.0, both lengths, a repeated or malformed
// Content-Length, a missing, repeated or malformed Host. After a refusal the connection has to be closed.
tl::expected<Framing, Refusal> request_framing(const RequestHead& head);

// The same for an answer, to a HEAD request or another. The error says what is wrong. Content codings are refused, since no
// request of ours asks for one.
tl::expected<Framing, std::string> answer_framing(const AnswerHead& head, bool to_head_request);

}  // namespace tinker::http
