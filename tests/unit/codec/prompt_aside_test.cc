// SPDX-License-Identifier: Apache-2.0
#include "codec/prompt_aside.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/sample_request.h"

namespace tinker::codec {
namespace {

using Tokens = std::vector<std::int32_t>;

TEST(PromptAside, TakesListsOfTokensOut) {
  const auto aside = set_prompt_aside(
      R"({"tokens":[9],"prompt":{"chunks":[{"tokens": [1, 2] ,"type":"encoded_text"},{"tokens":[]},{"data":"[1]"}]}})");

  ASSERT_TRUE(aside);
  EXPECT_EQ(aside->rest,
            R"({"tokens":[9],"prompt":{"chunks":[{"tokens": [] ,"type":"encoded_text"},{"tokens":[]},{"data":"[1]"}]}})");
  ASSERT_EQ(aside->tokens.size(), 3u);
  EXPECT_EQ(aside->tokens[0], (Tokens{1, 2}));
  EXPECT_EQ(aside->tokens[1], Tokens{});
  EXPECT_EQ(aside->tokens[2], std::nullopt);
}

TEST(PromptAside, LeavesListsOfAnythingElse) {
  for (const char* list : {"[1,-1]", "[1.0]", "[\"1\"]", "[2147483648]", "[null]", "[[1]]", "7", "null", "{\"tokens\":[1]}"}) {
    const std::string body = "{\"prompt\":{\"chunks\":[{\"tokens\":" + std::string(list) + "}]}}";

    const auto aside = set_prompt_aside(body);

    ASSERT_TRUE(aside) << list;
    EXPECT_EQ(aside->rest, body);
    EXPECT_EQ(aside->tokens, std::vector<std::optional<Tokens>>{std::nullopt});
  }
}

TEST(PromptAside, GivesUpOnWhatIsNotJson) {
  const std::string body = R"({"prompt":{"chunks":[{"tokens":[1,2]}]}})";
  for (std::size_t size = 0; size < body.size(); ++size) EXPECT_FALSE(set_prompt_aside(body.substr(0, size))) << size;
  for (const char* text : {"[]", "{} {}", R"({"a":NaN})", R"({"prompt":{"chunks":[{"tokens":[1,2}]}})"})
    EXPECT_FALSE(set_prompt_aside(text)) << text;
}

// A body is long by what is ignored in it, or not: the request is the same.
TEST(PromptAside, MakesNoDifferenceToTheRequest) {
  const std::string filler = ",\"x\":\"" + std::string(4000, 'x') + "\"}";
  const std::string rest =
      R"(,"sampling_params":{"max_tokens":8,"seed":18446744073709551616},"sampling_session_id":"s","seq_id":3)";
  for (
      const char* prompt : {
          R"("prompt":{"chunks":[]})",
          R"("prompt":{"chunks":[{"tokens":[1,2,3]},{"tokens":[4]},{"tokens":[],"type":"encoded_text"}]})",
          R"("prompt":{"chunks":[{"tokens":[1,"2",3.0]},{"tokens":[4]}]})",
          R"("prompt":{"chunks":[{"tokens":[1],"tokens":["2"]},{"tokens":["4"],"tokens":[5]}]})",
          R"("prompt":{"chunks":[{"tokens":[1]},{"tokens":[2]}]},"prompt":{"chunks":[{"tokens":["7"]}],"chunks":[{"tokens":[8]}]})",
          R"("prompt":{"chunks":[{"tokens":[1]}]},"prompt":{"chunks":[{"tokens":["7"]}]})",
          R"("prompt":{"chunks":[{"tokens":[1]}]},"prompt":null)",
          R"("prompt":{"chunks":[{"tokens":[1]}],"chunks":null})",
          R"("prompt":{"chunks":[{"tokens":[1],"tokens":null}]})",
          R"("prompt":{"chunks":[{"to\u006bens":[1,2]}]})",
          R"("prompt":{"chunks":[{"tokens":[1,-2]}]})",
          R"("prompt":{"chunks":[{"tokens":[1]},{"type":"image","data":"AAAA","tokens":[1]}]})",
          R"("prompt":{"chunks":[{"tokens":[1],"data":"AAAA"}]})",
          R"("prompt":{"chunks":[{"tokens":[1,2}]})",
          R"("prompt":{"chunks":[7,{"tokens":[1]}]})",
      }) {
    const std::string body = "{" + std::string(prompt) + rest;

    const auto small = parse_sample_request(body + "}");
    const auto large = parse_sample_request(body + filler);

    ASSERT_EQ(small.has_value(), large.has_value()) << prompt;
    if (small) {
      EXPECT_EQ(small->prompt_tokens, large->prompt_tokens) << prompt;
      EXPECT_EQ(small->seed, large->seed) << prompt;
    } else {
      EXPECT_EQ(small.error().code, large.error().code) << prompt;
      EXPECT_EQ(small.error().text, large.error().text) << prompt;
    }
  }
}

}  // namespace
}  // namespace tinker::codec
