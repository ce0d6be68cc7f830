// SPDX-License-Identifier: Apache-2.0
#include "forward/upstream_url.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace tinker::forward {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::size_t kShownBytes = 200;

bool letter_or_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool in_name(char c) { return letter_or_digit(c) || c == '-' || c == '.' || c == '_'; }
bool in_ipv6(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}
// RFC 3986 §3.3: pchar and '/'. A blank or a line end in it would become part of our request line.
bool in_path(char c) { return letter_or_digit(c) || std::string_view("/-._~!$&'()*+,;=:@%").find(c) != std::string_view::npos; }

bool starts_with_ignoring_case(std::string_view text, std::string_view start) {
  return text.size() >= start.size() && std::equal(start.begin(), start.end(), text.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
         });
}

tl::unexpected<base::Error> refuse(std::string_view url, std::string_view what) {
  std::string shown;
  for (const char c : url.substr(0, kShownBytes)) shown += c >= ' ' && c <= '~' ? c : '?';
  return base::fail(base::Code::invalid_argument, "upstream URL '" + shown + "' " + std::string(what));
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

base::Result<UpstreamUrl> UpstreamUrl::parse(std::string_view text) {
  if (starts_with_ignoring_case(text, "https://")) {
    return refuse(text, "is https, which is not served yet; put a local proxy that ends TLS in front of the upstream");
  }
  if (!starts_with_ignoring_case(text, kScheme)) return refuse(text, "does not start with http://");
  const std::string_view rest = text.substr(kScheme.size());
  if (rest.find('?') != std::string_view::npos) return refuse(text, "has a query; give the base URL only");
  if (rest.find('#') != std::string_view::npos) return refuse(text, "has a fragment; give the base URL only");

  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view authority = rest.substr(0, slash);
  std::string_view path = rest.substr(slash);
  if (authority.find('@') != std::string_view::npos) return refuse(text, "has credentials, which are not sent to an upstream");

  UpstreamUrl url;
  std::string_view host = authority;
  std::optional<std::string_view> port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return refuse(text, "has a '[' without ']' in its host");
    host = authority.substr(1, close - 1);
    const std::string_view after = authority.substr(close + 1);
    if (!after.empty() && after[0] != ':') return refuse(text, "has something other than ':port' behind the ']' of its host");
    if (!after.empty()) port = after.substr(1);
    if (!std::all_of(host.begin(), host.end(), in_ipv6)) return refuse(text, "has a host in brackets that is no IPv6 address");
  } else {
    if (const std::size_t colon = authority.find(':'); colon != std::string_view::npos) {
      host = authority.substr(0, colon);
      port = authority.substr(colon + 1);
    }
    if (port && port->find(':') != std::string_view::npos) {
      return refuse(text, "has several ':' in its host; an IPv6 address is written in brackets: http://[::1]:8000");
    }
    if (!std::all_of(host.begin(), host.end(), in_name))
      return refuse(text, "has a character in its host that no host name has");
  }
  if (host.empty()) return refuse(text, "has no host");
  if (port) {
    const auto number = parse_port(*port);
    if (!number) return refuse(text, "has a bad port; it is a number from 1 to 65535");
    url.port = *number;
  }

  while (path.ends_with('/')) path.remove_suffix(1);
  if (!std::all_of(path.begin(), path.end(), in_path)) return refuse(text, "has a character in its path that no URL has");
  if (path.ends_with("/v1")) return refuse(text, "ends in /v1; leave that out, each request adds /v1/completions");

  url.host = host;
  url.prefix = path;
  url.authority = authority;
  return url;
}

}  // namespace tinker::forward
