// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tinker::codec {

// 64 bytes of a text, compared at once: bit i of a mask is byte i.
//
// SSE2 is part of every x86-64; elsewhere the compiler makes what it can of the plain loop.
class ByteBlock {
 public:
  static constexpr int kSize = 64;

#if defined(__SSE2__)
  explicit ByteBlock(const char* bytes) {
    for (int i = 0; i < 4; ++i) parts_[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + i);
  }
  std::uint64_t equal(char c) const {
    const __m128i wanted = _mm_set1_epi8(c);
    return mask([&](__m128i part) { return _mm_cmpeq_epi8(part, wanted); });
  }
  // Bytes that are `c` once bit 5 is set: '[' and '{' are "{", ']' and '}' are "}".
  std::uint64_t equal_folded(char c) const {
    const __m128i wanted = _mm_set1_epi8(c);
    const __m128i bit = _mm_set1_epi8(0x20);
    return mask([&](__m128i part) { return _mm_cmpeq_epi8(_mm_or_si128(part, bit), wanted); });
  }

 private:
  template <class Compare>
  std::uint64_t mask(Compare compare) const {
    std::uint64_t bits = 0;
    for (int i = 0; i < 4; ++i)
      bits |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(compare(parts_[i])))) << (16 * i);
    return bits;
  }
  __m128i parts_[4];
#else
  explicit ByteBlock(const char* bytes) { std::memcpy(bytes_, bytes, kSize); }
  std::uint64_t equal(char c) const {
    std::uint64_t bits = 0;
    for (int i = 0; i < kSize; ++i) bits |= static_cast<std::uint64_t>(bytes_[i] == c) << i;
    return bits;
  }
  std::uint64_t equal_folded(char c) const {
    std::uint64_t bits = 0;
    for (int i = 0; i < kSize; ++i) bits |= static_cast<std::uint64_t>((bytes_[i] | 0x20) == c) << i;
    return bits;
  }

 private:
  char bytes_[kSize];
#endif
};

}  // namespace tinker::codec
