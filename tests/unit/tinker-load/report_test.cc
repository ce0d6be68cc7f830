// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

namespace tinker::load {
namespace {

using testing::HasSubstr;
using testing::Not;

RunOutcome outcome(std::uint64_t completed) {
  RunOutcome outcome;
  outcome.totals.counts.completed = completed;
  outcome.totals.sample_times.add(2000, completed);
  outcome.totals.troubles.add("reset", 3);
  outcome.seconds = 2;
  outcome.server = ProcessUse{.cpu_sec = 0.004, .peak_rss_bytes = 5'000'000};
  outcome.own_cpu_sec = 0.002;
  return outcome;
}

rapidjson::Document read(const std::string& json) {
  rapidjson::Document document;
  document.Parse(json.c_str());
  EXPECT_FALSE(document.HasParseError()) << json;
  return document;
}

TEST(Report, HasTheFiguresOfARun) {
  RunOutcome run = outcome(40);
  run.server_peak_connections = 7;

  const auto json = read(report_json(run));

  EXPECT_EQ(json["completed"].GetInt64(), 40);
  EXPECT_EQ(json["failed"].GetInt64(), 0);
  EXPECT_EQ(json["samples_per_sec"].GetDouble(), 20);
  EXPECT_NEAR(json["sample_p50_ms"].GetDouble(), 2, 0.008);
  EXPECT_EQ(json["server_cpu_us_per_sample"].GetDouble(), 100);
  EXPECT_EQ(json["server_peak_rss_mb"].GetDouble(), 5);
  EXPECT_EQ(json["server_peak_connections"].GetInt64(), 7);
  EXPECT_EQ(json["own_cpu_us_per_sample"].GetDouble(), 50);
  EXPECT_STREQ(json["troubles"][0]["text"].GetString(), "reset");
  EXPECT_EQ(json["troubles"][0]["times"].GetInt64(), 3);
  EXPECT_THAT(report_text(run), HasSubstr("server_cpu_us_per_sample           100.0 us\n"));
  EXPECT_THAT(report_text(run), HasSubstr("trouble, 3 times: reset\n"));
}

TEST(Report, LeavesOutWhatNobodyMeasured) {
  RunOutcome run = outcome(40);
  run.server.reset();

  const std::string text = report_text(run);

  EXPECT_THAT(text, HasSubstr("sample_p50_ms"));
  for (const char* name : {"submit_p50_ms", "healthz_p50_ms", "server_cpu", "server_peak"})
    EXPECT_THAT(text, Not(HasSubstr(name)));
}

TEST(Report, AddsRoundsUp) {
  RunOutcome sum;
  sum.add(outcome(40));
  sum.add(outcome(20));

  const auto json = read(report_json(sum));

  EXPECT_EQ(json["completed"].GetInt64(), 60);
  EXPECT_EQ(json["seconds"].GetDouble(), 4);
  EXPECT_EQ(json["samples_per_sec"].GetDouble(), 15);
  EXPECT_EQ(json["server_peak_rss_mb"].GetDouble(), 5);
  EXPECT_EQ(json["troubles"][0]["times"].GetInt64(), 6);
}

TEST(Report, ComparesWithTheFirstServer) {
  const NamedOutcomes servers{{"ours", outcome(40)}, {"theirs", outcome(10)}};

  const auto json = read(compare_json(servers));
  const std::string text = compare_text(servers);

  EXPECT_EQ(json["servers"]["ours"]["completed"].GetInt64(), 40);
  EXPECT_EQ(json["servers"]["theirs"]["samples_per_sec"].GetDouble(), 5);
  EXPECT_EQ(json["ratios"].MemberCount(), 1u);
  EXPECT_EQ(json["ratios"]["theirs"]["samples_per_sec"].GetDouble(), 0.25);
  EXPECT_EQ(json["ratios"]["theirs"]["server_cpu_us_per_sample"].GetDouble(), 4);
  EXPECT_THAT(text, HasSubstr("theirs    ratio\n"));
  EXPECT_THAT(text, testing::ContainsRegex("samples_per_sec +20\\.0 /s +5\\.0 /s +0\\.25\n"));
  EXPECT_THAT(text, HasSubstr("theirs:\ntrouble, 3 times: reset\n"));
}

TEST(Report, ComparesWhatOnlyOneServerHas) {
  NamedOutcomes servers{{"ours", outcome(40)}, {"theirs", outcome(10)}};
  servers[0].second.server.reset();
  servers[1].second.server_peak_connections = 9;

  const auto json = read(compare_json(servers));
  const std::string text = compare_text(servers);

  EXPECT_FALSE(json["ratios"]["theirs"].HasMember("server_peak_rss_mb"));
  EXPECT_THAT(text, testing::ContainsRegex("server_peak_rss_mb +- +5\\.0 MB +-\n"));
  EXPECT_THAT(text, testing::ContainsRegex("server_peak_connections +- +9 +-\n"));
  EXPECT_THAT(text, Not(HasSubstr("healthz_p50_ms")));
}

}  // namespace
}  // namespace tinker::load
