// SPDX-License-Identifier: Apache-2.0
#include "codec/prompt_logprobs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "codec/completion.h"
#include "support/vectors.h"
#include "tinker_public.pb.h"
#include "unit/codec/reference_decoder.h"

namespace tinker::codec {
namespace {

using support::buffer_of;

base::Result<Completion> decode(const std::string& prompt_logprobs, const CompletionWants& wants) {
  return decode_completion(
      buffer_of("{\"choices\":[{\"token_ids\":[1],\"logprobs\":{\"token_logprobs\":[-1]},\"prompt_logprobs\":" +
                prompt_logprobs + "}]}"),
      wants);
}

tinker_public::SampleResponse message(const std::string& prompt_logprobs, const CompletionWants& wants) {
  tinker_public::SampleResponse response;
  const auto completion = decode(prompt_logprobs, wants);
  EXPECT_TRUE(completion) << completion.error().text;
  if (completion) {
    const std::string_view bytes = completion->sample_response.view();
    EXPECT_TRUE(response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  }
  return response;
}

CompletionWants wants(std::vector<std::int32_t> prompt, std::uint32_t k = 0) {
  return {.prompt_logprobs = true, .topk_prompt_logprobs = k, .prompt_tokens = std::move(prompt)};
}

// Floats with NaN as 99, so that they compare.
std::vector<float> floats(std::string_view bytes) {
  auto numbers = numbers_of<float>(bytes);
  for (float& number : numbers) {
    if (std::isnan(number)) number = 99;
  }
  return numbers;
}

constexpr float kNone = 99;
constexpr float kUnused = -99999.0F;

// Row 1: the prompt's own token outside the top two. Row 2: within it.
constexpr const char* kRows =
    R"([null,)"
    R"({"20":{"logprob":-9.0,"rank":700,"decoded_token":"\"logprob\":1"},"8":{"logprob":-0.5,"rank":1},)"
    R"("9":{"logprob":-1.0,"rank":2}},)"
    R"({"30":{"logprob":-0.25,"rank":1,"decoded_token":null},"7":{"rank":2,"logprob":-2.0}}])";

TEST(PromptLogprobs, AreThoseOfThePromptsOwnTokens) {
  const auto response = message(kRows, wants({10, 20, 30}));

  EXPECT_EQ(floats(response.prompt_logprobs()), (std::vector<float>{kNone, -9, -0.25F}));
  EXPECT_FALSE(response.has_topk_prompt_logprobs());
}

TEST(PromptLogprobs, TopkHoldsTheMostLikelyFirst) {
  const auto topk = message(kRows, wants({10, 20, 30}, 2)).topk_prompt_logprobs();

  EXPECT_EQ(topk.k(), 2u);
  EXPECT_EQ(topk.length(), 3u);
  EXPECT_EQ(numbers_of<std::int32_t>(topk.token_ids()), (std::vector<std::int32_t>{0, 0, 8, 9, 30, 7}));
  EXPECT_EQ(floats(topk.logprobs()), (std::vector<float>{kUnused, kUnused, -0.5F, -1, -0.25F, -2}));
}

TEST(PromptLogprobs, TopkIsAsWideAsItsWidestRow) {
  const auto wide = message(kRows, wants({10, 20, 30}, 20)).topk_prompt_logprobs();
  const auto empty = message("[null,null]", wants({10, 20}, 20)).topk_prompt_logprobs();

  EXPECT_EQ(wide.k(), 3u);
  EXPECT_EQ(numbers_of<std::int32_t>(wide.token_ids()), (std::vector<std::int32_t>{0, 0, 0, 8, 9, 20, 30, 7, 0}));
  EXPECT_EQ(empty.k(), 1u);
  EXPECT_EQ(floats(empty.logprobs()), (std::vector<float>{kUnused, kUnused}));
}

TEST(PromptLogprobs, TiesKeepTheirOrder) {
  const auto topk =
      message(R"([{"5":{"logprob":-1},"4":{"logprob":-1},"3":{"logprob":-1}}])", wants({5}, 2)).topk_prompt_logprobs();

  EXPECT_EQ(numbers_of<std::int32_t>(topk.token_ids()), (std::vector<std::int32_t>{5, 4}));
}

TEST(PromptLogprobs, BeforeTheLastNAreNone) {
  CompletionWants last_one = wants({10, 20, 30}, 2);
  last_one.prompt_logprobs_last_n = 1;
  CompletionWants more_than_there_are = last_one;
  more_than_there_are.prompt_logprobs_last_n = 4'000'000'000;

  const auto response = message(kRows, last_one);

  EXPECT_EQ(floats(response.prompt_logprobs()), (std::vector<float>{kNone, kNone, -0.25F}));
  EXPECT_EQ(floats(response.topk_prompt_logprobs().logprobs()),
            (std::vector<float>{kUnused, kUnused, kUnused, kUnused, -0.25F, -2}));
  EXPECT_EQ(message(kRows, more_than_there_are).SerializeAsString(),
            message(kRows, wants({10, 20, 30}, 2)).SerializeAsString());
}

TEST(PromptLogprobs, RowsBeyondThePromptAreCutAndMissingOnesAreNone) {
  EXPECT_EQ(floats(message(kRows, wants({10, 20})).prompt_logprobs()), (std::vector<float>{kNone, -9}));
  EXPECT_EQ(floats(message(kRows, wants({10, 20, 30, 40})).prompt_logprobs()), (std::vector<float>{kNone, -9, -0.25F, kNone}));
}

TEST(PromptLogprobs, AnOwnTokenThatIsNotListedIsNone) {
  EXPECT_EQ(floats(message(kRows, wants({10, 21, 30})).prompt_logprobs()), (std::vector<float>{kNone, kNone, -0.25F}));
}

TEST(PromptLogprobs, ALogprobThatIsNullOrAbsentIsTheLeastLikely) {
  const auto response = message(R"([{"1":{"logprob":null},"2":{"rank":1},"3":{"logprob":-1e30}}])", wants({1}, 2));

  EXPECT_EQ(floats(response.prompt_logprobs()), std::vector<float>{kNone});
  EXPECT_EQ(numbers_of<std::int32_t>(response.topk_prompt_logprobs().token_ids()), (std::vector<std::int32_t>{3, 1}));
}

TEST(PromptLogprobs, U9_AMissingListIsLeftOutAndSaidToBe) {
  const auto completion = decode("null", wants({10, 20}, 2));
  const auto response = message("null", wants({10, 20}, 2));

  ASSERT_TRUE(completion);
  EXPECT_TRUE(completion->logprobs_missing);
  EXPECT_FALSE(response.has_prompt_logprobs());
  EXPECT_FALSE(response.has_topk_prompt_logprobs());
  EXPECT_EQ(response.sequences_size(), 1);
}

TEST(PromptLogprobs, AreNotReadWhenNobodyAskedForThem) {
  EXPECT_FALSE(message(kRows, {}).has_prompt_logprobs());
  EXPECT_TRUE(decode(R"({"no":"list"})", {}));
}

TEST(PromptLogprobs, U9_RefusesWhatIsNoListOfRows) {
  for (const char* rows : {"7", "{}", "[7]", R"([{"x":{"logprob":-1}}])", R"([{"1":-1}])", R"([{"1":{"logprob":"x"}}])",
                           R"([{"2147483648":{"logprob":-1}}])", R"([{"1 ":{"logprob":-1}}])", R"([{"":{"logprob":-1}}])"})
    EXPECT_FALSE(decode(rows, wants({1, 2}))) << rows;
}

TEST(PromptLogprobs, AHugeKCostsNothing) {
  EXPECT_EQ(message(kRows, wants({10, 20, 30}, 4'000'000'000)).topk_prompt_logprobs().k(), 3u);
}

}  // namespace
}  // namespace tinker::codec
