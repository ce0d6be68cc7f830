// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace tinker::codec {

// Decimal digits, eight at a time in a register.

static_assert(std::endian::native == std::endian::little,
              "the wire form is little-endian, and so is every machine that we build for");

constexpr std::uint64_t kZeros = 0x3030303030303030ull;

inline std::uint64_t load8(const char* p) {
  std::uint64_t bytes;
  std::memcpy(&bytes, p, sizeof bytes);
  return bytes;
}

// Of eight bytes with kZeros taken away (0 … 9 where there was a digit): bits at those that were none, from the first such on.
inline std::uint64_t others(std::uint64_t values) {
  return (values | (values + 0x7676767676767676ull)) & 0x8080808080808080ull;
}

// How many of the eight bytes, from the first on, are digits.
inline int leading_digits(std::uint64_t bytes) {
  const std::uint64_t not_digits = others(bytes ^ kZeros);
  return not_digits == 0 ? 8 : std::countr_zero(not_digits) / 8;
}

// The number of eight digits: pairs, then fours, then all at once.
inline std::uint32_t eight_digits(std::uint64_t values) {
  values = values * 10 + (values >> 8);
  constexpr std::uint64_t kPairs = 0x000000FF000000FFull;
  return static_cast<std::uint32_t>(
      ((values & kPairs) * (100 + (1000000ull << 32)) + ((values >> 16) & kPairs) * (1 + (10000ull << 32))) >> 32);
}

// The number that the first `count` bytes (0 … 8), all digits, stand for.
inline std::uint32_t digits_value(std::uint64_t bytes, int count) {
  const int half = 4 * (8 - count);  // a shift by 64 at once is undefined
  return eight_digits((bytes ^ kZeros) << half << half);
}

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace tinker::codec
