// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/asked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "tinker-load/sample_key.h"

namespace tinker::load {
namespace {

TEST(Asked, ReadsWhatAnAnswerDependsOn) {
  const auto asked = read_asked(
      R"({"model":"a\"b","prompt":[7, 8, 9, 10, 11],"n":3,"logprobs":1,"stop":["]","\\"],"return_token_ids":true,"seed":5})");

  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(asked->key, key_of(std::vector<std::int32_t>{7, 8, 9, 10}));
  EXPECT_EQ(asked->choices, 3u);
  EXPECT_EQ(asked->prompt_tokens, 5u);
  EXPECT_EQ(asked->model, R"(a\"b)");
  EXPECT_EQ(asked->prompt_token_ids, "[7, 8, 9, 10, 11]");
}

TEST(Asked, HidesThePromptUnlessTokenIdsAreAskedFor) {
  EXPECT_EQ(read_asked(R"({"prompt":[1]})")->prompt_token_ids, "null");
  EXPECT_EQ(read_asked(R"({"prompt":[1],"return_token_ids":false})")->prompt_token_ids, "null");
}

TEST(Asked, TakesAPromptShorterThanAKey) {
  const auto asked = read_asked(R"({"prompt":[5]})");

  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(asked->key, 5u);
  EXPECT_EQ(asked->prompt_tokens, 1u);
}

TEST(Asked, RefusesWhatIsNoCompletionRequest) {
  for (const char* body : {"", "[]", "{", R"({"model":"tiny"})", R"({"prompt":"text"})", R"({"prompt":[]})",
                           R"({"prompt":[[1]]})", R"({"prompt":[1],"n":"2"})", R"({"prompt":[1)", R"({"prompt":[1]} x)"}) {
    SCOPED_TRACE(body);
    const auto asked = read_asked(body);

    ASSERT_FALSE(asked.has_value());
    EXPECT_EQ(asked.error().code, base::Code::invalid_argument);
  }
}

TEST(Asked, RefusesAZeroByteBehindTheObject) {
  EXPECT_FALSE(read_asked(std::string_view("{\"prompt\":[1]}\0", 15)).has_value());
}

TEST(Asked, RefusesMoreChoicesThanVllmMakes) {
  EXPECT_TRUE(read_asked(R"({"prompt":[1],"n":16384})").has_value());
  for (const char* body : {R"({"prompt":[1],"n":0})", R"({"prompt":[1],"n":16385})"}) {
    const auto asked = read_asked(body);

    ASSERT_FALSE(asked.has_value()) << body;
    EXPECT_THAT(asked.error().text, testing::HasSubstr("n must be between 1 and 16384"));
  }
}

}  // namespace
}  // namespace tinker::load
