// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

#include <sys/random.h>

#include <charconv>
#include <system_error>

namespace tinker::base {

std::string SampleId::text() const { return "s" + std::to_string(number); }

std::optional<SampleId> SampleId::parse(std::string_view text) {
  if (text.size() < 2 || text[0] != 's' || text[1] < '0' || text[1] > '9') return std::nullopt;
  if (text[1] == '0' && text.size() > 2) return std::nullopt;
  SampleId id;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 1, end, id.number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return id;
}

std::string sequence_id(SampleId id, std::uint32_t n) { return id.text() + "-" + std::to_string(n); }

std::string random_id(std::string_view prefix) {
  std::uint64_t bits = 0;
  // 8 bytes are never cut short and, after boot, never fail (getrandom(2)).
  while (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
  }
  static constexpr char kHex[] = "0123456789abcdef";
  std::string id(prefix);
  for (int shift = 60; shift >= 0; shift -= 4) id += kHex[(bits >> shift) & 15];
  return id;
}

}  // namespace tinker::base
