// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "codec/byte_block.h"
#include "codec/digits.h"

namespace tinker::codec {

// The decimal places of a logprob, all of them at once.

constexpr std::uint64_t kMostPlaces = 24;

// Ones for the places that there are, when read from kMostPlaces - count on, and zeros behind them.
alignas(64) inline constexpr unsigned char kPlaces[kMostPlaces + 32] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                                        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                                        0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};

// Whether the `count` bytes (1 … kMostPlaces) from `first` on are digits. `value` is the number that the first 16 are, zeros
// taken for those that there are not. Bytes up to 32 behind `first` may be read.
template <class Block>
bool sixteen_places(const char* first, std::uint64_t count, std::uint64_t& value) {
  const char* places = reinterpret_cast<const char*>(kPlaces) + kMostPlaces - count;
  const std::uint64_t a = (load8(first) ^ kZeros) & load8(places);
  const std::uint64_t b = (load8(first + 8) ^ kZeros) & load8(places + 8);
  const std::uint64_t c = (load8(first + 16) ^ kZeros) & load8(places + 16);
  value = eight_digits(a) * std::uint64_t{100'000'000} + eight_digits(b);
  return (others(a) | others(b) | others(c)) == 0;
}

#if defined(__x86_64__)
template <>
[[TINKER_AVX2]] inline bool sixteen_places<Avx2Block>(const char* first, std::uint64_t count, std::uint64_t& value) {
  const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(first));
  const __m256i places = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kPlaces + kMostPlaces - count));
  const __m256i digits = _mm256_and_si256(_mm256_xor_si256(text, _mm256_set1_epi8('0')), places);
  const __m128i pairs = _mm_maddubs_epi16(_mm256_castsi256_si128(digits), _mm_set1_epi16(10 | 1 << 8));
  const __m128i fours = _mm_madd_epi16(pairs, _mm_set1_epi32(100 | 1 << 16));
  const __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(10'000 | 1 << 16));
  const auto both = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
  value = (both & 0xFFFFFFFF) * 100'000'000 + (both >> 32);
  const __m256i others = _mm256_subs_epu8(digits, _mm256_set1_epi8(9));
  return _mm256_testz_si256(others, others) != 0;
}
#endif

}  // namespace tinker::codec
