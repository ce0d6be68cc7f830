// SPDX-License-Identifier: Apache-2.0
#include "codec/completion.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/vectors.h"
#include "tinker_public.pb.h"
#include "unit/codec/reference_decoder.h"

namespace tinker::codec {
namespace {

using support::body_of;
using support::buffer_of;
using support::read_vector;

base::Result<Completion> decode(std::string_view json, const CompletionWants& wants = {}) {
  return decode_completion(buffer_of(json), wants);
}

// The decoded answer as a message; fails the test when there is none.
tinker_public::SampleResponse message(std::string_view json, const CompletionWants& wants = {}) {
  tinker_public::SampleResponse response;
  const auto completion = decode(json, wants);
  EXPECT_TRUE(completion) << completion.error().text << " in " << json;
  if (completion) {
    const std::string_view bytes = completion->sample_response.view();
    EXPECT_TRUE(response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  }
  return response;
}

std::vector<std::int32_t> tokens_of(const tinker_public::SampleResponse& response, int sequence = 0) {
  return numbers_of<std::int32_t>(response.sequences(sequence).tokens());
}
std::vector<float> logprobs_of(const tinker_public::SampleResponse& response, int sequence = 0) {
  return numbers_of<float>(response.sequences(sequence).logprobs());
}

std::string answer(const std::string& choices) { return "{\"choices\":[" + choices + "]}"; }

constexpr const char* kChoice =
    R"({"index":0,"logprobs":{"token_logprobs":[-0.5,-0.25]},"finish_reason":"stop","token_ids":[7,8]})";

TEST(Completion, GivesTokensLogprobsAndStopReason) {
  const auto response = message(answer(kChoice));

  ASSERT_EQ(response.sequences_size(), 1);
  EXPECT_EQ(response.sequences(0).stop_reason(), tinker_public::STOP_REASON_STOP);
  EXPECT_EQ(tokens_of(response), (std::vector<std::int32_t>{7, 8}));
  EXPECT_EQ(logprobs_of(response), (std::vector<float>{-0.5F, -0.25F}));
  EXPECT_FALSE(response.has_prompt_logprobs());
  EXPECT_EQ(decode(answer(kChoice))->tokens, 2u);
  EXPECT_FALSE(decode(answer(kChoice))->logprobs_missing);
}

TEST(Completion, OnlyStopAndStopTokenAreAStop) {
  for (const auto& [reason, stop] : std::vector<std::pair<std::string, bool>>{{"\"stop\"", true},
                                                                              {"\"stop_token\"", true},
                                                                              {"\"length\"", false},
                                                                              {"\"abort\"", false},
                                                                              {"\"\"", false},
                                                                              {"null", false}}) {
    const auto response = message(answer("{\"token_ids\":[1],\"finish_reason\":" + reason + "}"));
    EXPECT_EQ(response.sequences(0).stop_reason() == tinker_public::STOP_REASON_STOP, stop) << reason;
  }
  EXPECT_EQ(message(answer(R"({"token_ids":[1]})")).sequences(0).stop_reason(), tinker_public::STOP_REASON_LENGTH);
}

TEST(Completion, OrdersSequencesByIndex) {
  const auto response = message(
      answer(R"({"index":2,"token_ids":[30]},{"index":0,"token_ids":[10]},{"index":1,"token_ids":[20]})"), {.num_samples = 3});

  for (int i = 0; i < 3; ++i) EXPECT_EQ(tokens_of(response, i), std::vector<std::int32_t>{10 * (i + 1)});
}

TEST(Completion, KeepsTheOrderOfChoicesWithoutIndex) {
  const auto response = message(answer(R"({"token_ids":[5]},{"token_ids":[4]},{"token_ids":[3]})"), {.num_samples = 3});

  for (int i = 0; i < 3; ++i) EXPECT_EQ(tokens_of(response, i), std::vector<std::int32_t>{5 - i});
}

TEST(Completion, NullLogprobIsNan) {
  const auto logprobs = logprobs_of(message(answer(R"({"token_ids":[1,2],"logprobs":{"token_logprobs":[null,-1]}})")));

  EXPECT_TRUE(std::isnan(logprobs[0]));
  EXPECT_EQ(logprobs[1], -1.0F);
}

TEST(Completion, OfAKeyThatStandsTwiceTheLastCounts) {
  const auto response = message(R"({"choices":[{"token_ids":[9]},{"token_ids":[9]}],)"
                                R"("choices":[{"token_ids":[1,2],"token_ids":[3],"logprobs":{"token_logprobs":[-1,-1]},)"
                                R"("logprobs":{"token_logprobs":[-2],"token_logprobs":[-4]}}]})");

  EXPECT_EQ(tokens_of(response), std::vector<std::int32_t>{3});
  EXPECT_EQ(logprobs_of(response), std::vector<float>{-4.0F});
}

// cases.md U6: the caller forwards such a sample again.
TEST(Completion, U6_TellsThatAChoiceWasAborted) {
  const auto started = decode(body_of(read_vector("vllm/direct/shutdown-sigterm.http")));
  const auto refused = decode(body_of(read_vector("vllm/direct/drain-new-request-abort-empty.http")));

  ASSERT_TRUE(started && refused);
  EXPECT_TRUE(started->aborted);
  EXPECT_GT(started->tokens, 0u);
  EXPECT_TRUE(refused->aborted);
  EXPECT_EQ(refused->tokens, 0u);
  EXPECT_FALSE(decode(answer(kChoice))->aborted);
  EXPECT_TRUE(
      decode(answer(std::string(kChoice) + R"(,{"token_ids":[],"finish_reason":"abort"})"), {.num_samples = 2})->aborted);
}

TEST(Completion, U8_IsNotFooledByTextThatLooksLikeStructure) {
  const std::string decoy = R"(\",\"token_ids\":[1,2,3],\"token_logprobs\":[9],\"choices\":[{)";
  for (const std::string& slashes : {std::string(), std::string("\\\\"), std::string("\\\\\\\\")}) {
    const std::string text = "\"" + decoy + slashes + "\"";
    const auto response = message(
        "{\"id\":" + text + ",\"choices\":[{\"text\":" + text + ",\"logprobs\":{\"tokens\":[" + text + "],\"top_logprobs\":[{" +
        text + ":-1.0}],\"token_logprobs\":[-0.5]},\"finish_reason\":\"stop\",\"token_ids\":[42]}],\"usage\":{" + text + ":" +
        text + "}}");
    EXPECT_EQ(tokens_of(response), std::vector<std::int32_t>{42});
    EXPECT_EQ(logprobs_of(response), std::vector<float>{-0.5F});
  }
}

TEST(Completion, U8_IsNotFooledByKeysInOtherPlaces) {
  const auto response =
      message(R"({"token_ids":[1],"logprobs":{"token_logprobs":[1]},"prompt":{"choices":[{"token_ids":[2]}]},)"
              R"("choices":[{"extra":{"token_ids":[3],"finish_reason":"length"},"token_logprobs":[3],)"
              R"("logprobs":{"token_ids":[4],"deep":[{"token_logprobs":[4]}],"token_logprobs":[-0.5]},)"
              R"("token_ids":[42],"finish_reason":"stop"}]})");

  EXPECT_EQ(tokens_of(response), std::vector<std::int32_t>{42});
  EXPECT_EQ(logprobs_of(response), std::vector<float>{-0.5F});
  EXPECT_EQ(response.sequences(0).stop_reason(), tinker_public::STOP_REASON_STOP);
}

TEST(Completion, U8_TakesKeysInAnyOrderWithEscapesAndWhiteSpace) {
  const auto response = message(
      "\r\n {\t\"c\\u0068oices\" :\n[ { \"finish_reason\" : \"stop\" , \"token\\u005fids\" : [ 42\n, 43 ] ,"
      " \"logprobs\" : { \"token_logprobs\" : [ -0.5 ,\t-1 ] } , \"index\" : 0 } ] } \n");

  EXPECT_EQ(tokens_of(response), (std::vector<std::int32_t>{42, 43}));
  EXPECT_EQ(logprobs_of(response), (std::vector<float>{-0.5F, -1.0F}));
}

TEST(Completion, U8_SkipsNestingOfAnyDepth) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');

  EXPECT_EQ(tokens_of(message("{\"metrics\":" + deep + ",\"choices\":[{\"token_ids\":[42],\"x\":" + deep + "}]}")),
            std::vector<std::int32_t>{42});
  EXPECT_FALSE(decode(std::string(1'000'000, '[')));
  EXPECT_FALSE(decode("{\"choices\":" + deep + "}"));
}

TEST(Completion, U9_MissingLogprobsAreZerosAndSaidToBe) {
  for (const char* choice :
       {R"({"token_ids":[1,2]})", R"({"token_ids":[1,2],"logprobs":null})", R"({"token_ids":[1,2],"logprobs":{}})",
        R"({"token_ids":[1,2],"logprobs":{"token_logprobs":null}})",
        R"({"token_ids":[1,2],"logprobs":{"token_logprobs":[]}})"}) {
    EXPECT_EQ(logprobs_of(message(answer(choice))), (std::vector<float>{0, 0})) << choice;
    EXPECT_TRUE(decode(answer(choice))->logprobs_missing) << choice;
  }
  EXPECT_FALSE(decode(answer(R"({"token_ids":[],"logprobs":null})"))->logprobs_missing);
}

TEST(Completion, U9_RefusesAnswersThatHoldNoSample) {
  const std::vector<std::pair<std::string, std::string>> answers = {
      {"", "not JSON"},
      {"upstream is down", "not JSON"},
      {"[]", "not JSON"},
      {"null", "not JSON"},
      {"{}", "0 choices"},
      {R"({"choices":null})", "0 choices"},
      {R"({"choices":[]})", "0 choices"},
      {R"({"choices":{}})", "not JSON"},
      {R"({"choices":[7]})", "not JSON"},
      {answer(std::string(kChoice) + "," + kChoice), "2 choices where 1"},
      {answer("{}"), "no token_ids"},
      {answer(R"({"token_ids":null})"), "no token_ids"},
      {answer(R"({"token_ids":7})"), "not JSON"},
      {answer(R"({"token_ids":[1,2147483648]})"), "no int32 at byte 2"},
      {answer(R"({"token_ids":[-2147483649]})"), "no int32 at byte 0"},
      {answer(R"({"token_ids":[1.5]})"), "no int32"},
      {answer(R"({"token_ids":[null]})"), "no int32"},
      {answer(R"({"token_ids":["1"]})"), "no int32"},
      {answer(R"({"token_ids":[1],"logprobs":{"token_logprobs":["x"]}})"), "no number at byte 0"},
      {answer(R"({"token_ids":[1],"logprobs":{"token_logprobs":[NaN]}})"), "no number"},
      {answer(R"({"token_ids":[1,2],"logprobs":{"token_logprobs":[-1]}})"), "2 tokens and 1 logprobs"},
      {answer(R"({"token_ids":[],"logprobs":{"token_logprobs":[-1]}})"), "0 tokens and 1 logprobs"},
      {answer(R"({"index":4,"token_ids":null})"), "choice 4"},
  };
  for (const auto& [body, why] : answers) {
    const auto completion = decode(body);
    ASSERT_FALSE(completion) << body;
    EXPECT_EQ(completion.error().code, base::Code::unavailable) << body;
    EXPECT_NE(completion.error().text.find(why), std::string::npos) << completion.error().text;
  }
}

TEST(Completion, U9_ShowsABoundedPieceOfWhatItRefuses) {
  const auto completion = decode(std::string(5'000'000, 'x'));

  ASSERT_FALSE(completion);
  EXPECT_LT(completion.error().text.size(), 700u);
}

TEST(Completion, U9_RefusesABodyCutShortAnywhere) {
  const std::string body{body_of(read_vector("vllm/direct/ok-prompt-logprobs2-n2.http"))};
  CompletionWants wants{.num_samples = 2, .prompt_logprobs = true, .topk_prompt_logprobs = 2, .prompt_tokens = {1, 2, 3}};
  ASSERT_TRUE(decode(body, wants));

  for (std::size_t size = 0; size < body.size(); ++size) ASSERT_FALSE(decode(body.substr(0, size), wants)) << size;
  EXPECT_FALSE(decode(body + "}", wants));
  EXPECT_FALSE(decode(body + body, wants));
  EXPECT_FALSE(decode(body + std::string(1, '\0'), wants));
}

TEST(Completion, RemembersOfARequestWhatItsAnswerNeeds) {
  SampleRequest request;
  request.prompt_tokens = {1, 2, 3};
  request.num_samples = 4;
  const CompletionWants plain = wants_of(request);
  request.topk_prompt_logprobs = 5;
  request.prompt_logprobs_last_n = 2;
  const CompletionWants prompt = wants_of(request);

  EXPECT_EQ(plain.num_samples, 4u);
  EXPECT_FALSE(plain.prompt_logprobs);
  EXPECT_TRUE(plain.prompt_tokens.empty());
  EXPECT_TRUE(prompt.prompt_logprobs);
  EXPECT_EQ(prompt.topk_prompt_logprobs, 5u);
  EXPECT_EQ(prompt.prompt_logprobs_last_n, 2u);
  EXPECT_EQ(prompt.prompt_tokens, request.prompt_tokens);
}

}  // namespace
}  // namespace tinker::codec
