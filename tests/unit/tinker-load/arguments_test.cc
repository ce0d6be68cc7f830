// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tinker::load {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

TEST(WithCommand, LeavesCommandsAlone) {
  for (const Words& words :
       {Words{}, Words{"load", "--url", "x"}, Words{"--help"}, Words{"--version"}, Words{"all", "--role", "load"}})
    EXPECT_EQ(with_command(words), words);
}

TEST(WithCommand, TakesTheRoleForTheCommand) {
  EXPECT_THAT(*with_command({"--role", "load", "--num-requests", "5"}), ElementsAre("load", "--num-requests", "5"));
  EXPECT_THAT(*with_command({"--num-requests", "5", "--role=vllm"}), ElementsAre("router", "--num-requests", "5"));
  EXPECT_THAT(*with_command({"--role", "all"}), ElementsAre("all"));
  EXPECT_THAT(*with_command({"--num-requests", "5"}), ElementsAre("all", "--num-requests", "5"));
}

TEST(WithCommand, SaysWhatARoleCanBe) {
  for (const Words& words : {Words{"--role", "server"}, Words{"--role=server"}, Words{"--role"}, Words{"--role="}}) {
    const auto command = with_command(words);

    ASSERT_FALSE(command.has_value());
    EXPECT_THAT(command.error().text, HasSubstr("expected all, load or vllm"));
  }
}

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    add_sampling(app_, run_);
    add_shape(app_, run_.load.output_tokens, run_.load.body);
    add_generation(app_, router_);
  }
  void parse(Words words) {
    std::ranges::reverse(words);
    app_.parse(words);
  }

  CLI::App app_;
  RunOptions run_;
  RouterOptions router_;
};

TEST_F(OptionsTest, HaveNamesForTheirValues) {
  parse({"--vllm-mode", "latency", "--body", "full", "--poll", "multi", "--client", "sdk"});

  EXPECT_EQ(router_.mode, VllmMode::latency);
  EXPECT_EQ(run_.load.body, Body::full);
  EXPECT_EQ(run_.load.poll, Poll::multi);
  EXPECT_EQ(run_.client, ClientKind::sdk);
}

TEST_F(OptionsTest, TakeTheSpellingsOfTheOtherHarness) {
  parse({"--client", "raw", "--max-tokens", "7", "--barrier-requests", "3", "--barrier-timeout", "0.5"});

  EXPECT_EQ(run_.client, ClientKind::native);
  EXPECT_EQ(run_.load.output_tokens, 7u);
  EXPECT_EQ(router_.barrier, 3u);
  EXPECT_EQ(router_.hold_seconds, 0.5);
}

TEST_F(OptionsTest, RefuseWhatMakesNoSense) {
  for (const Words& words : {Words{"--num-requests", "0"}, Words{"--num-requests", "-1"}, Words{"--max-outstanding", "many"},
                             Words{"--prompt-tokens", "3"}, Words{"--poll", "triple"}, Words{"--client-processes", "251"},
                             Words{"--gen-seconds", "-1"}, Words{"--poll-timeout", "0"}, Words{"--vllm-mode", "fast"}})
    EXPECT_THROW(parse(words), CLI::ParseError) << words.front();
}

}  // namespace
}  // namespace tinker::load
