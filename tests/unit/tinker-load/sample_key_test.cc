// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/sample_key.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace tinker::load {
namespace {

constexpr std::uint64_t kKeyLimit = std::uint64_t{1} << 60;

TEST(SampleKey, ComesBackFromItsPrompt) {
  for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{1}, kKeyLimit - 1, mix(3) % kKeyLimit}) {
    const auto prompt = prompt_of(key, 16);

    EXPECT_EQ(prompt.size(), 16u);
    EXPECT_EQ(key_of(prompt), key);
    for (const std::int32_t token : prompt) EXPECT_TRUE(token >= 0 && token < static_cast<std::int32_t>(kVocabulary));
  }
}

TEST(SampleKey, TellsRequestsAndChoicesApartByWhatIsChecked) {
  std::set<std::vector<std::int32_t>> seen;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    for (std::uint32_t choice = 0; choice < 4; ++choice) {
      std::vector<std::int32_t> tokens;
      for (std::size_t i = 0; i < 4; ++i) tokens.push_back(token_at(key, choice, i));
      seen.insert(tokens);
    }
  }

  EXPECT_EQ(seen.size(), 4000u);
}

TEST(SampleKey, MakesTheRestOfAResultTheSameForAll) {
  EXPECT_EQ(token_at(1, 0, kChecked), token_at(2, 3, kChecked));
  EXPECT_EQ(logprob_at(Body::full, 1, 0, kChecked), logprob_at(Body::full, 2, 3, kChecked));
  EXPECT_NE(token_at(1, 0, kChecked - 1), token_at(2, 3, kChecked - 1));
}

TEST(SampleKey, MakesNoPositiveOrMinusZeroLogprob) {
  for (const Body body : {Body::minimal, Body::full}) {
    for (std::size_t i = 0; i < 20000; ++i) {
      const float logprob = logprob_at(body, 0, 0, i);
      ASSERT_LE(logprob, 0.0F);
      ASSERT_FALSE(logprob == 0.0F && std::signbit(logprob)) << i;
    }
  }
}

}  // namespace
}  // namespace tinker::load
