// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace tinker::codec {

// One JSON number at `p`; null is none. Returns the position behind it, or nullptr when there is no number that ends at or
// before `end`. Bytes up to base::Buffer::kPadding behind `end` may be read. A float equals strtof of its text.
const char* scan_float(const char* p, const char* end, float& value);
const char* scan_int32(const char* p, const char* end, std::int32_t& value);

// The float nearest to a number, given the double that came of three roundings, when that decides it: its distance from the
// middle between two floats is larger than what the roundings can have moved it, each at most half a unit in the last of 53
// places, and than 10^-12 of it, which a cut mantissa may lack. False when it does not decide. For normal floats: below them
// the place that is rounded at moves.
inline bool near_float(double number, float& value) {
  constexpr std::int64_t kDoubt = 10'000;  // 2^53 · 10^-12, and the roundings
  const auto below =
      static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(number) & 0x1FFFFFFF);  // the 29 places a float lacks
  value = static_cast<float>(number);
  return static_cast<std::uint64_t>(below - 0x10000000 + kDoubt) > 2 * kDoubt;
}

}  // namespace tinker::codec
