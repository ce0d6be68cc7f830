// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tinker::forward {

// An upstream's base URL: http only, "http://host:port[/prefix]", without the /v1 that each request adds.
struct UpstreamUrl {
  std::string host;  // without the brackets of an IPv6 address
  std::uint16_t port = 80;
  std::string prefix;     // empty, or "/…" without trailing '/'
  std::string authority;  // as for the Host field: "10.0.0.1:8000", "[::1]:8000"

  bool operator==(const UpstreamUrl&) const = default;

  // Errors (invalid_argument) name the URL and what is wrong with it: another scheme (https is not served yet), no host, a bad
  // port, credentials, a query, a fragment, a character that no URL has, a path that ends in /v1.
  static base::Result<UpstreamUrl> parse(std::string_view text);
  // "http://10.0.0.1:8000/prefix"
  std::string text() const { return "http://" + authority + prefix; }
};

}  // namespace tinker::forward
