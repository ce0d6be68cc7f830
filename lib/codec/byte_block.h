// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "codec/digits.h"

namespace tinker::codec {

// 64 bytes of a text, compared at once: bit i of a mask is byte i. A class for each kind of machine, all alike.

constexpr std::ptrdiff_t kBlockBytes = 64;

// The bits of the bytes of a block that has `count` of them, or more than it can hold.
inline std::uint64_t bits_before(std::ptrdiff_t count) {
  return count >= kBlockBytes ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

// For any machine: eight bytes in a register.
class PlainBlock {
 public:
  explicit PlainBlock(const char* bytes) {
    for (int i = 0; i < 8; ++i) parts_[i] = load8(bytes + 8 * i);
  }
  std::uint64_t equal(char c) const {
    constexpr std::uint64_t kLow7 = 0x7F7F7F7F7F7F7F7F;
    const std::uint64_t wanted = static_cast<unsigned char>(c) * std::uint64_t{0x0101010101010101};
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t difference = parts_[i] ^ wanted;
      const std::uint64_t same = ~(((difference & kLow7) + kLow7) | difference | kLow7) >> 7;  // a 1 in each byte that is equal
      bits |= same * 0x0102040810204080 >> 56 << 8 * i;
    }
    return bits;
  }
  // Bit i is the parity of the bits up to i: inside a string from its first quote on.
  static std::uint64_t parity_up_to(std::uint64_t bits) {
    for (int shift = 1; shift < kBlockBytes; shift *= 2) bits ^= bits << shift;
    return bits;
  }

 private:
  std::uint64_t parts_[8];
};

#if defined(__x86_64__)
// What every x86-64 has.
class Sse2Block {
 public:
  explicit Sse2Block(const char* bytes) {
    for (int i = 0; i < 4; ++i) parts_[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes) + i);
  }
  std::uint64_t equal(char c) const {
    const __m128i wanted = _mm_set1_epi8(c);
    std::uint64_t bits = 0;
    for (int i = 0; i < 4; ++i) {
      const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(parts_[i], wanted));
      bits |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(mask)) << (16 * i);
    }
    return bits;
  }
  static std::uint64_t parity_up_to(std::uint64_t bits) { return PlainBlock::parity_up_to(bits); }

 private:
  __m128i parts_[4];
};

// For functions marked TINKER_AVX2 only, to be called when the machine has it.
#define TINKER_AVX2 gnu::target("avx2,bmi,popcnt,pclmul")
class Avx2Block {
 public:
  [[TINKER_AVX2]] explicit Avx2Block(const char* bytes)
      : low_(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes))),
        high_(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + 1)) {}
  [[TINKER_AVX2]] std::uint64_t equal(char c) const {
    const __m256i wanted = _mm256_set1_epi8(c);
    const auto low = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low_, wanted)));
    const auto high = static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high_, wanted)));
    return low | std::uint64_t{high} << 32;
  }
  [[TINKER_AVX2]] static std::uint64_t parity_up_to(std::uint64_t bits) {
    const __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<std::int64_t>(bits)), _mm_set1_epi8(-1), 0);
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
  }

 private:
  __m256i low_, high_;
};
#elif defined(__aarch64__)
class NeonBlock {
 public:
  explicit NeonBlock(const char* bytes) {
    for (int i = 0; i < 4; ++i) parts_[i] = vld1q_u8(reinterpret_cast<const std::uint8_t*>(bytes) + 16 * i);
  }
  std::uint64_t equal(char c) const {
    const uint8x16_t wanted = vdupq_n_u8(static_cast<std::uint8_t>(c));
    const uint8x16_t weights = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    uint8x16_t bits[4];
    for (int i = 0; i < 4; ++i) bits[i] = vandq_u8(vceqq_u8(parts_[i], wanted), weights);
    const uint8x16_t sums = vpaddq_u8(vpaddq_u8(bits[0], bits[1]), vpaddq_u8(bits[2], bits[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
  }
  static std::uint64_t parity_up_to(std::uint64_t bits) { return PlainBlock::parity_up_to(bits); }

 private:
  uint8x16_t parts_[4];
};
#endif

#if defined(__x86_64__)
using BaselineBlock = Sse2Block;
#elif defined(__aarch64__)
using BaselineBlock = NeonBlock;
#else
using BaselineBlock = PlainBlock;
#endif

}  // namespace tinker::codec
