// SPDX-License-Identifier: Apache-2.0
#include "futures/entry.h"

#include "futures/table.h"
#include "support/sim/sim.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>

namespace tinker::futures {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHeapIsGlibc = false;
#else
constexpr bool kHeapIsGlibc = true;
#endif

Submission without_bytes(int i) {
  Submission submission = sim::sample("sampling_0123456789abcdef:" + std::to_string(i % 16), i);
  submission.request = {};
  return submission;
}

// 131,072 outstanding samples of 16 sampling sessions, each with a poll that waits, beside the bytes of requests and results.
TEST(Entry, CostsLessThan400Bytes) {
  if (!kHeapIsGlibc) GTEST_SKIP() << "the sanitizer's heap does not count";
  constexpr int kOutstanding = 131'072;
  base::FakeClock clock;
  Table table(0, kOutstanding);
  Effects effects;
  effects.reserve(kOutstanding);
  const std::size_t before = mallinfo2().uordblks;

  for (int i = 0; i < kOutstanding; ++i) {
    const auto admitted = table.submit(without_bytes(i), clock.now(), effects);
    ASSERT_TRUE(admitted);
    table.poll(admitted->id, {0, static_cast<std::uint64_t>(i)}, clock.now());
  }

  const std::size_t each = (mallinfo2().uordblks - before) / kOutstanding;
  std::printf("sizeof(Entry) %zu, heap an outstanding sample with a waiter %zu bytes\n", sizeof(Entry), each);
  EXPECT_LT(each, 400u);
}

}  // namespace
}  // namespace tinker::futures
