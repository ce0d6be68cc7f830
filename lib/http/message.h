// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"

namespace tinker::http {

// Header fields as they came, in order. Names compare without regard to case (RFC 9110 §5.1). One contiguous text, no
// allocation a field.
class Fields {
 public:
  void add(std::string_view name, std::string_view value);
  // The first field of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  std::size_t size() const { return spans_.size(); }
  std::pair<std::string_view, std::string_view> at(std::size_t index) const;
  // Room for so much text and so many fields at once.
  void reserve(std::size_t bytes, std::size_t fields);
  void clear();

 private:
  struct Span {
    std::uint32_t name_at, name_size, value_at, value_size;
  };
  std::string text_;
  std::vector<Span> spans_;
};

// Names and tokens compare without regard to the case of ASCII letters.
bool same_token(std::string_view a, std::string_view b);

// Who is at the other end of a Unix socket, as the kernel says.
struct PeerCredentials {
  std::int64_t pid = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::uint32_t> groups = {};  // supplementary; empty when there are more than 64
};

// A request as a handler sees it: syntax checked, body whole and without its transfer coding.
struct Request {
  std::string method;  // "GET", "POST", …
  std::string path;    // percent-encoded as sent, without the query
  std::string query;   // without '?'
  Fields fields;
  std::string body;
  std::string peer;                            // "127.0.0.1:4711", or "unix:PID/UID" of a control client
  std::optional<PeerCredentials> credentials;  // of a Unix socket's client
};

struct Response {
  int status = 200;
  std::string_view content_type = "application/json";  // a literal; empty: no body and no content type
  std::vector<std::pair<std::string, std::string>> fields = {};
  base::SharedBytes body = {};
};

// What becomes of an answer (design.md §2, deliver and confirm). An observer is told either `gone`, or `written` and then
// perhaps `confirmed`.
enum class Delivery {
  written,    // the last byte left the output buffer of a live connection
  confirmed,  // the same connection then sent its next request, which it had not pipelined: it has read the answer
  gone,       // the connection died first
};

// One finished exchange, for the access log. What it refers to lives as long as the call.
struct Exchange {
  std::string_view method;  // empty when the head could not be parsed
  std::string_view path;
  std::string_view peer;
  int status;  // 0: the client left before an answer
  std::uint64_t bytes_in, bytes_out;
  base::Seconds took;           // from the first byte of the request to the last byte of the answer
  std::string_view request_id;  // Reply::set_request_id, else the client's x-request-id, else empty
};

}  // namespace tinker::http
