// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/simd.h"

namespace tinker::codec {

// All that this machine has; an x86-64 without AVX2 is served by the baseline.
inline std::vector<Simd> every_simd() {
  std::vector<Simd> all = {Simd::plain, Simd::baseline};
  if (fastest_simd() != Simd::baseline) all.push_back(fastest_simd());
  return all;
}

inline std::string name_of(Simd simd) {
  switch (simd) {
    case Simd::plain:
      return "plain";
    case Simd::baseline:
      return "baseline";
#if defined(__x86_64__)
    case Simd::avx2:
      return "avx2";
#endif
  }
  return {};
}

// A test that runs once with each: TEST_P, and EVERY_SIMD(name) for its suite.
class EverySimd : public testing::TestWithParam<Simd> {
 protected:
  EverySimd() { simd_in_use() = GetParam(); }
  ~EverySimd() override { simd_in_use() = fastest_simd(); }
};

#define EVERY_SIMD(suite)                                            \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(every_simd()), \
                           [](const testing::TestParamInfo<Simd>& simd) { return name_of(simd.param); })

}  // namespace tinker::codec
