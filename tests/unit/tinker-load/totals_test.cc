// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/totals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tinker::load {
namespace {

using testing::HasSubstr;

LoadTotals some_totals(std::uint64_t first) {
  LoadTotals totals;
  for (const CountRow& row : kCounts) totals.counts.*row.member = first++;
  totals.submit_times.add(1000, 2);
  totals.sample_times.add(5'000'000, 3);
  totals.troubles.add("connection to 127.0.0.1:8000 \"refused\"", 4);
  totals.began_sec = 100 + static_cast<double>(first);
  totals.ended_sec = 200 + static_cast<double>(first);
  return totals;
}

TEST(Troubles, CountsTextsThatDifferInDigitsAsOneKind) {
  Troubles troubles;
  troubles.add("result of s1: 15 tokens");
  troubles.add("result of s22: 3 tokens", 2);
  troubles.add("reset");

  ASSERT_EQ(troubles.all().size(), 2u);
  EXPECT_EQ(troubles.all()[0].text, "result of s1: 15 tokens");
  EXPECT_EQ(troubles.all()[0].times, 3u);
  EXPECT_EQ(troubles.all()[1].times, 1u);
}

TEST(Troubles, KeepsTheFirstKinds) {
  Troubles troubles;
  for (char c = 'a'; c <= 'z'; ++c) troubles.add(std::string(1, c));
  troubles.add("a");
  troubles.add("");

  ASSERT_EQ(troubles.all().size(), Troubles::kMost);
  EXPECT_EQ(troubles.all().front().times, 2u);
}

TEST(LoadTotals, AreThoseOfSeveralTogether) {
  LoadTotals sum = some_totals(1);
  const LoadTotals other = some_totals(10);

  sum.merge(other);
  sum.merge({});  // one that did not begin

  for (std::size_t i = 0; i < kCounts.size(); ++i) EXPECT_EQ(sum.counts.*kCounts[i].member, 11 + 2 * i) << kCounts[i].name;
  EXPECT_EQ(sum.submit_times.count(), 4u);
  EXPECT_EQ(sum.troubles.all().front().times, 8u);
  EXPECT_EQ(sum.began_sec, some_totals(1).began_sec);
  EXPECT_EQ(sum.ended_sec, other.ended_sec);
}

TEST(Message, ComesThroughAPipeAsItWas) {
  const LoadTotals totals = some_totals(1);

  const std::string line = message_line({.totals = totals, .fatal = "no \"session\"\n"});
  const auto read = read_message(line);

  EXPECT_EQ(line.find('\n'), line.size() - 1);
  ASSERT_TRUE(read.has_value()) << read.error().text;
  ASSERT_TRUE(read->totals.has_value());
  for (const CountRow& row : kCounts) EXPECT_EQ(read->totals->counts.*row.member, totals.counts.*row.member) << row.name;
  EXPECT_EQ(read->totals->sample_times.count(), 3u);
  EXPECT_EQ(read->totals->sample_times.percentile_sec(1), totals.sample_times.percentile_sec(1));
  EXPECT_EQ(read->totals->submit_times.count(), 2u);
  EXPECT_EQ(read->totals->troubles.all().front().text, totals.troubles.all().front().text);
  EXPECT_EQ(read->totals->troubles.all().front().times, 4u);
  EXPECT_EQ(read->totals->seconds(), 100);
  EXPECT_EQ(read->fatal, "no \"session\"\n");
  EXPECT_FALSE(read->outstanding.has_value());
}

TEST(Message, TellsProgress) {
  const auto read = read_message(message_line({.progress = 7, .outstanding = 0}));

  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->progress, 7u);
  EXPECT_EQ(read->outstanding, 0u);
  EXPECT_FALSE(read->totals.has_value());
}

TEST(Message, OfAClientThatKnowsLessIsRead) {
  const auto read = read_message(R"({"totals": {"completed": 3, "sample_times": [10, 1, "x", 2], "troubles": ["odd"]}})");

  ASSERT_TRUE(read && read->totals);
  EXPECT_EQ(read->totals->counts.completed, 3u);
  EXPECT_EQ(read->totals->counts.repolls, 0u);
  EXPECT_EQ(read->totals->sample_times.count(), 1u);
  EXPECT_TRUE(read->totals->troubles.all().empty());
}

TEST(Message, IsRefusedWhenItIsNone) {
  for (const char* line : {"", "Traceback (most recent call last):", "[1]", "{"}) {
    const auto read = read_message(line);

    ASSERT_FALSE(read.has_value()) << line;
    EXPECT_THAT(read.error().text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace tinker::load
