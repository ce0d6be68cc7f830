// SPDX-License-Identifier: Apache-2.0
#include "http/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>

namespace tinker::http {

base::Result<SocketAddress> SocketAddress::numeric(const std::string& host, std::uint16_t port) {
  SocketAddress address;
  std::string plain = host == "localhost" ? "127.0.0.1" : host;
  if (plain.size() > 2 && plain.front() == '[' && plain.back() == ']') plain = plain.substr(1, plain.size() - 2);

  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (inet_pton(AF_INET, plain.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.size = sizeof(sockaddr_in);
  } else if (inet_pton(AF_INET6, plain.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.size = sizeof(sockaddr_in6);
  } else {
    return base::fail(base::Code::invalid_argument,
                      "'" + host + "' is no IP address; give one such as 127.0.0.1, 0.0.0.0 or ::1");
  }
  return address;
}

base::Result<SocketAddress> SocketAddress::unix_socket(const std::string& path) {
  SocketAddress address;
  auto* local = reinterpret_cast<sockaddr_un*>(&address.storage);
  if (path.empty() || path.size() >= sizeof local->sun_path)
    return base::fail(base::Code::invalid_argument,
                      "socket path '" + path + "' has " + std::to_string(path.size()) + " bytes; 1 to 107 are possible");
  local->sun_family = AF_UNIX;
  std::memcpy(local->sun_path, path.c_str(), path.size() + 1);
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

std::uint16_t SocketAddress::port() const {
  if (storage.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
  if (storage.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port);
  return 0;
}

std::string SocketAddress::text() const {
  char host[INET6_ADDRSTRLEN] = "";
  switch (storage.ss_family) {
    case AF_INET:
      inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr, host, sizeof host);
      return std::string(host) + ":" + std::to_string(port());
    case AF_INET6:
      inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr, host, sizeof host);
      return "[" + std::string(host) + "]:" + std::to_string(port());
    case AF_UNIX:
      if (size <= offsetof(sockaddr_un, sun_path)) return "unix:";
      return "unix:" + std::string(reinterpret_cast<const sockaddr_un*>(&storage)->sun_path);
    default:
      return "unknown";
  }
}

}  // namespace tinker::http
