// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

#include <gtest/gtest.h>

#include <limits>

namespace tinker::base {
namespace {

TEST(SampleId, ReadsWhatItWrites) {
  for (std::int64_t number : {std::int64_t{0}, std::int64_t{7}, std::numeric_limits<std::int64_t>::max()}) {
    const SampleId id{number};

    EXPECT_EQ(SampleId::parse(id.text()), id);
  }
}

TEST(SampleId, C3_RefusesWhatIsNoId) {
  for (const char* text :
       {"", "s", "1", "s-1", "s+1", "s 1", "s1 ", "s01", "s1_0", "S1", "s١", "s9223372036854775808", "s1-0", "s0x1", "ss1"}) {
    EXPECT_EQ(SampleId::parse(text), std::nullopt) << text;
  }
}

TEST(SequenceId, IsTheIdAndANumber) { EXPECT_EQ(sequence_id(SampleId{12}, 3), "s12-3"); }

TEST(RandomId, IsThePrefixAndSixteenHexDigits) {
  const std::string id = random_id("session_");

  EXPECT_EQ(id.size(), 24u);
  EXPECT_TRUE(id.starts_with("session_"));
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef", 8), std::string::npos);
  EXPECT_NE(random_id("session_"), id);
}

}  // namespace
}  // namespace tinker::base
