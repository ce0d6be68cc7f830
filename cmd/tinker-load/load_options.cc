// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/load_options.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>

namespace tinker::load {
namespace {

std::size_t part(std::size_t all, std::size_t k, std::size_t processes) {
  return all / processes + (k < all % processes ? 1 : 0);
}

bool is_loopback(const http::SocketAddress& address) {
  if (address.storage.ss_family != AF_INET) return false;
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address.storage);
  return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
}

}  // namespace

std::size_t LoadOptions::most_outstanding() const {
  return max_outstanding == 0 ? num_requests : std::min(max_outstanding, num_requests);
}

LoadOptions share_of(const LoadOptions& all, std::size_t k, std::size_t processes, const http::SocketAddress& server) {
  LoadOptions share = all;
  share.num_requests = part(all.num_requests, k, processes);
  share.max_outstanding = std::max<std::size_t>(1, part(all.most_outstanding(), k, processes));
  share.submit_concurrency = std::max<std::size_t>(1, part(all.submit_concurrency, k, processes));
  share.fetch_concurrency = std::max<std::size_t>(1, part(all.fetch_concurrency, k, processes));
  if (is_loopback(server)) share.source = *http::SocketAddress::numeric("127.0.0." + std::to_string(2 + k), 0);
  return share;
}

base::Result<http::SocketAddress> read_url(std::string_view url) {
  const auto refused = [&] {
    return base::fail(base::Code::invalid_argument,
                      "'" + std::string(url) + "': expected http://HOST:PORT with a numeric host, e.g. http://127.0.0.1:8000");
  };
  std::string_view rest = url;
  if (!rest.starts_with("http://")) return refused();
  rest.remove_prefix(7);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return refused();
  std::uint16_t port = 0;
  const char* end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data() + colon + 1, end, port);
  if (error != std::errc{} || stop != end) return refused();
  const auto address = http::SocketAddress::numeric(std::string(rest.substr(0, colon)), port);
  if (!address) return refused();
  return *address;
}

}  // namespace tinker::load
