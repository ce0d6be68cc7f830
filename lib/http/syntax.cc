// SPDX-License-Identifier: Apache-2.0
#include "http/syntax.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tinker::http {
namespace {

namespace beast = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

constexpr std::string_view kTooManyFields = "too many header fields";

std::string_view view(string_view text) { return {text.data(), text.size()}; }

// Collects what Beast finds in a head. Bodies never reach it: they are skipped here and framed elsewhere.
template <bool is_request>
class HeadParser final : public beast::basic_parser<is_request> {
 public:
  HeadParser(Fields& fields, std::size_t field_limit) : fields_(fields), field_limit_(field_limit) { this->skip(true); }

  // True when `head` is a whole head and nothing else.
  bool parse(std::string_view head) {
    this->header_limit(static_cast<std::uint32_t>(std::min<std::size_t>(head.size() + 1, std::numeric_limits<int>::max())));
    this->eager(true);
    fields_.reserve(head.size(), 24);
    const std::size_t used = this->put(boost::asio::const_buffer(head.data(), head.size()), error_);
    return !error_ && this->is_header_done() && used == head.size();
  }

  error_code error() const { return error_; }
  bool too_many_fields() const { return fields_.size() > field_limit_; }

  string_view method, target;
  int status = 0;
  int version = 11;

 private:
  void on_request_impl(beast::verb, string_view method_text, string_view target_text, int http_version, error_code&) override {
    method = method_text;
    target = target_text;
    version = http_version;
  }
  void on_response_impl(int code, string_view, int http_version, error_code&) override {
    status = code;
    version = http_version;
  }
  void on_field_impl(beast::field, string_view name, string_view value, error_code& error) override {
    fields_.add(view(name), view(value));
    if (too_many_fields()) error = beast::error::header_limit;
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code&) override { return body.size(); }
  void on_finish_impl(error_code&) override {}

  Fields& fields_;
  std::size_t field_limit_;
  error_code error_;
};

std::string what_is_wrong(error_code error) {
  if (error == beast::error::bad_method) return "the method is not a token followed by one space";
  if (error == beast::error::bad_target) return "the request target is empty or has characters that must be percent-encoded";
  if (error == beast::error::bad_version) return "the first line does not carry HTTP/1.0 or HTTP/1.1";
  if (error == beast::error::bad_status) return "the status is not three digits followed by a space";
  if (error == beast::error::bad_reason) return "the reason phrase has control characters";
  if (error == beast::error::bad_field)
    return "a field name is empty or has characters that no token may have, such as a space";
  if (error == beast::error::bad_value) return "a field value has control characters, or Connection is not a list of tokens";
  if (error == beast::error::bad_line_ending) return "a line does not end in CR LF";
  if (error == beast::error::bad_content_length) return "Content-Length is no number, or stands beside another length";
  if (error == beast::error::bad_transfer_encoding) return "Transfer-Encoding is given twice or beside Content-Length";
  return "the head is not HTTP/1.1 syntax";
}

// "GET / HTTP/2.0": a version's form that is not ours, which is 505 rather than 400.
bool is_other_version(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\r'));
  if (line.size() < 9) return false;
  const std::string_view version = line.substr(line.size() - 9);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!version.starts_with(" HTTP/") || !digit(version[6]) || version[7] != '.' || !digit(version[8])) return false;
  return version != " HTTP/1.0" && version != " HTTP/1.1";
}

// The origin form of a target: "/a?b" of "/a?b" and of "http://host/a?b" (RFC 9112 §3.2); empty when it is neither of those,
// nor "*".
std::string_view origin_form(std::string_view target) {
  if (target.starts_with('/') || target == "*") return target;
  for (const std::string_view scheme : {std::string_view("http://"), std::string_view("https://")}) {
    if (target.size() <= scheme.size() || !same_token(target.substr(0, scheme.size()), scheme)) continue;
    const std::size_t path = target.find_first_of("/?", scheme.size());
    if (path == scheme.size()) return {};
    return path == std::string_view::npos ? "/" : target.substr(path);
  }
  return {};
}

}  // namespace

tl::expected<RequestHead, Refusal> parse_request_head(std::string_view head, std::size_t field_limit) {
  RequestHead request;
  HeadParser<true> parser(request.fields, field_limit);
  if (!parser.parse(head)) {
    if (parser.too_many_fields())
      return tl::unexpected(Refusal{431, std::string(kTooManyFields) + ": the limit is " + std::to_string(field_limit)});
    if (parser.error() == beast::error::bad_version && is_other_version(head))
      return tl::unexpected(Refusal{505, "this server speaks HTTP/1.1 and HTTP/1.0"});
    return tl::unexpected(Refusal{400, "bad request: " + what_is_wrong(parser.error())});
  }
  const std::string_view target = origin_form(view(parser.target));
  if (target.empty() || target.find('#') != std::string_view::npos)
    return tl::unexpected(Refusal{400, "bad request: the target is neither a path nor an http URL"});

  const std::size_t question = target.find('?');
  request.method = view(parser.method);
  request.path = target.substr(0, question);
  if (request.path.empty()) request.path = "/";
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  request.minor = parser.version % 10;
  return request;
}

tl::expected<AnswerHead, std::string> parse_answer_head(std::string_view head, std::size_t field_limit) {
  AnswerHead answer;
  HeadParser<false> parser(answer.fields, field_limit);
  if (!parser.parse(head)) {
    if (parser.too_many_fields())
      return tl::unexpected(std::string(kTooManyFields) + ": the limit is " + std::to_string(field_limit));
    return tl::unexpected(what_is_wrong(parser.error()));
  }
  answer.status = parser.status;
  answer.minor = parser.version % 10;
  return answer;
}

bool is_token_character(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

}  // namespace tinker::http
