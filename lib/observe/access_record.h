// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace tinker::observe {

// The fields of an access-log line, once, in their order: the daemon writes them, `tinkerctl log` reads them. A line is these,
// with a space between. No field holds a space or a control character, so nobody can forge a line or a field.
struct AccessRecord {
  base::Wall time;     // of the end of the exchange: RFC 3339, UTC, milliseconds
  std::string client;  // address and port
  std::string method;  // "-" when the request could not be read
  std::string path;    // as sent, without its query
  int status = 0;      // 0: the client left before an answer
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  double milliseconds = 0;  // from the request's first byte to the answer's last
  std::string request_id;   // the future's id where there is one, else the client's x-request-id; "-" for none
};
inline constexpr std::array<std::string_view, 9> kAccessFields{"time",     "client",    "method", "path",      "status",
                                                               "bytes_in", "bytes_out", "ms",     "request_id"};

// Appends the line, with its newline. Bytes of texts that are not printable ASCII, and spaces, become %XX. A path is cut at 1
// KB, the other texts at 128 bytes.
void append_line(const AccessRecord& record, std::string& out);

// Reads a line without its newline; %XX stays as it is. Fields after the last are passed over, for they are a later release's.
// Errors (invalid_argument) name the field that is missing or wrong.
base::Result<AccessRecord> parse_line(std::string_view line);

// Which lines `tinkerctl log tail` shows.
struct AccessFilter {
  int least_status = 0;  // of "4xx", "500" or ">=400"
  int most_status = 999;
  std::string path_prefix;
  std::optional<double> slower_than_ms;  // or as slow

  bool takes(const AccessRecord& record) const;
};
// Sets the range of statuses from "500", "5xx" or ">=400". Errors (invalid_argument) say which forms there are.
base::Result<void> read_status(std::string_view text, AccessFilter& filter);

}  // namespace tinker::observe
