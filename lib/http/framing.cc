// SPDX-License-Identifier: Apache-2.0
#include "http/framing.h"

#include <charconv>
#include <optional>
#include <string_view>

namespace tinker::http {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Calls `visit` with each element of a comma-separated list.
template <class Visit>
void each_element(std::string_view list, Visit visit) {
  for (;;) {
    const std::size_t comma = list.find(',');
    visit(trimmed(list.substr(0, comma)));
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

// The fields that framing depends on, gathered in one pass.
struct FramingFields {
  std::size_t lengths = 0, codings = 0, hosts = 0;
  std::string_view length, coding, host;
  std::optional<std::string_view> expect, content_coding;
  bool close = false, keep_alive = false;

  explicit FramingFields(const Fields& fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto [name, value] = fields.at(i);
      switch (name.size()) {  // spares most of the comparisons
        case 4:
          if (same_token(name, "host")) ++hosts, host = value;
          break;
        case 6:
          if (same_token(name, "expect")) expect = value;
          break;
        case 10:
          if (same_token(name, "connection")) read_connection(value);
          break;
        case 14:
          if (same_token(name, "content-length")) ++lengths, length = value;
          break;
        case 16:
          if (same_token(name, "content-encoding")) content_coding = value;
          break;
        case 17:
          if (same_token(name, "transfer-encoding")) ++codings, coding = value;
          break;
        default:
          break;
      }
    }
  }

  void read_connection(std::string_view value) {
    each_element(value, [this](std::string_view option) {
      if (same_token(option, "close")) close = true;
      if (same_token(option, "keep-alive")) keep_alive = true;
    });
  }
};

// Digits only: no sign, space or list, and within int64.
std::optional<std::uint64_t> parse_length(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return length;
}

bool valid_host(std::string_view host) {
  for (const char c : host) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && std::string_view("-._~%!$&'()*+;=:[]").find(c) == std::string_view::npos) return false;
  }
  return true;
}

// 400 for a coding that leaves the end of the body open, 501 for one that we merely do not know.
Refusal unknown_coding(const FramingFields& fields) {
  bool chunked_inside = fields.codings > 1 || fields.coding.empty();
  std::size_t elements = 0;
  std::size_t chunked_at = 0;
  each_element(fields.coding, [&](std::string_view coding) {
    ++elements;
    if (!same_token(coding, "chunked")) return;
    chunked_inside = chunked_inside || chunked_at != 0;
    chunked_at = elements;
  });
  chunked_inside = chunked_inside || (chunked_at != 0 && chunked_at != elements);
  return {chunked_inside ? 400 : 501, "bad request: the only Transfer-Encoding that is accepted is chunked, once"};
}

bool keeps_alive(const FramingFields& fields, int minor) { return !fields.close && (minor >= 1 || fields.keep_alive); }

}  // namespace

tl::expected<Framing, Refusal> request_framing(const RequestHead& head) {
  const auto refuse = [](int status, std::string detail) { return tl::unexpected(Refusal{status, std::move(detail)}); };
  const FramingFields fields(head.fields);

  if (fields.hosts > 1 || (fields.hosts == 0 && head.minor >= 1))
    return refuse(400, "bad request: HTTP/1.1 needs exactly one Host field");
  if (!valid_host(fields.host)) return refuse(400, "bad request: the Host field is no host and port");

  Framing framing;
  framing.keep_alive = keeps_alive(fields, head.minor);
  if (fields.codings > 0) {
    if (fields.lengths > 0) return refuse(400, "bad request: both Transfer-Encoding and Content-Length");
    if (head.minor == 0) return refuse(400, "bad request: HTTP/1.0 has no Transfer-Encoding");
    if (fields.codings > 1 || !same_token(fields.coding, "chunked")) return tl::unexpected(unknown_coding(fields));
    framing.body = BodyKind::chunked;
  } else if (fields.lengths > 0) {
    const auto length = parse_length(fields.length);
    if (fields.lengths > 1 || !length) return refuse(400, "bad request: Content-Length must be one decimal number, given once");
    framing.body = *length > 0 ? BodyKind::length : BodyKind::none;
    framing.length = *length;
  }
  if (fields.expect && head.minor >= 1) {
    if (!same_token(*fields.expect, "100-continue")) return refuse(417, "the only expectation that can be met is 100-continue");
    framing.expect_continue = framing.body != BodyKind::none;
  }
  return framing;
}

tl::expected<Framing, std::string> answer_framing(const AnswerHead& head, bool to_head_request) {
  const FramingFields fields(head.fields);
  Framing framing;
  framing.keep_alive = keeps_alive(fields, head.minor);

  if (fields.codings > 0 && fields.lengths > 0) return tl::unexpected<std::string>("both Transfer-Encoding and Content-Length");
  if (fields.codings > 0 && (head.minor == 0 || fields.codings > 1 || !same_token(fields.coding, "chunked")))
    return tl::unexpected<std::string>("Transfer-Encoding is not exactly chunked");
  std::optional<std::uint64_t> length;
  if (fields.lengths > 0) {
    length = parse_length(fields.length);
    if (fields.lengths > 1 || !length)
      return tl::unexpected<std::string>("Content-Length is not one decimal number, given once");
  }
  if (to_head_request || head.status / 100 == 1 || head.status == 204 || head.status == 304) return framing;

  if (fields.content_coding && !same_token(*fields.content_coding, "identity"))
    return tl::unexpected<std::string>("Content-Encoding was used though the request did not ask for one");
  if (fields.codings > 0) {
    framing.body = BodyKind::chunked;
  } else if (length) {
    framing.body = *length > 0 ? BodyKind::length : BodyKind::none;
    framing.length = *length;
  } else {
    framing.body = BodyKind::until_close;
    framing.keep_alive = false;
  }
  return framing;
}

}  // namespace tinker::http
