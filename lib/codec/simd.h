// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tinker::codec {

// What the loops over 64 bytes are made of. Packages are built for plain x86-64 and arm64; what a machine has besides is found
// when the program starts.
enum class Simd {
  plain,     // the compiler's, for any machine
  baseline,  // SSE2 or NEON, which every x86-64 and arm64 has
#if defined(__x86_64__)
  avx2,
#endif
};

inline Simd fastest_simd() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt") &&
      __builtin_cpu_supports("pclmul"))
    return Simd::avx2;
#endif
  return Simd::baseline;
}

// The fastest one. Tests set it to others, before there is a second thread.
inline Simd& simd_in_use() {
  static Simd simd = fastest_simd();
  return simd;
}

}  // namespace tinker::codec
