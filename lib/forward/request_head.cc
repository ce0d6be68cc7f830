// SPDX-License-Identifier: Apache-2.0
#include "forward/request_head.h"

namespace tinker::forward {

std::string completion_request_head(const UpstreamUrl& url, std::string_view session_header, std::size_t body_bytes) {
  std::string head;
  head.reserve(256 + url.prefix.size() + url.authority.size() + session_header.size());
  head += "POST ";
  head += url.prefix;
  head += kCompletionsPath;
  head += " HTTP/1.1\r\nHost: ";
  head += url.authority;
  head += "\r\nContent-Type: application/json\r\nContent-Length: ";
  head += std::to_string(body_bytes);
  if (!session_header.empty()) {
    head += "\r\nX-Session-ID: ";
    for (const char c : session_header) head += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '_' : c;
  }
  head += "\r\nAccept: */*\r\nUser-Agent: tinkerd/" TINKER_VERSION "\r\n\r\n";
  return head;
}

}  // namespace tinker::forward
