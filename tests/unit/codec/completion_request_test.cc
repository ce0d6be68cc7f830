// SPDX-License-Identifier: Apache-2.0
#include "codec/completion_request.h"

#include <gtest/gtest.h>

#include <string>

namespace tinker::codec {
namespace {

SampleRequest plain() {
  SampleRequest request;
  request.prompt_tokens = {1, 2, 128009};
  request.max_tokens = 8;
  return request;
}

TEST(CompletionRequest, WritesTheKeysOfThePeerInItsOrder) {
  EXPECT_EQ(
      render_completion_request(plain(), "tiny"),
      R"({"model":"tiny","prompt":[1,2,128009],"n":1,"seed":null,"max_tokens":8,"temperature":1.0,"top_p":1.0,"top_k":-1,)"
      R"("logprobs":1,"stream":false,"return_token_ids":true})");
}

TEST(CompletionRequest, WritesEveryParameter) {
  SampleRequest request = plain();
  request.num_samples = 4;
  request.seed = "-123456789012345678901234567890";
  request.temperature = 0.7;
  request.top_p = 0.95;
  request.top_k = 50;
  request.prompt_logprobs = true;
  request.topk_prompt_logprobs = 5;
  request.stop = std::vector<std::string>{"\n\n", "é\"", "日本"};

  EXPECT_EQ(render_completion_request(request, "a/b \"c\""),
            R"({"model":"a/b \"c\"","prompt":[1,2,128009],"n":4,"seed":-123456789012345678901234567890,"max_tokens":8,)"
            R"("temperature":0.7,"top_p":0.95,"top_k":50,"logprobs":1,"stream":false,"return_token_ids":true,)"
            R"("prompt_logprobs":5,"stop":["\n\n","é\"","日本"]})");
}

TEST(CompletionRequest, AsksForPromptLogprobsWhenEitherFormIsWanted) {
  SampleRequest own = plain();
  own.prompt_logprobs = true;
  SampleRequest topk = plain();
  topk.topk_prompt_logprobs = 2;

  EXPECT_NE(render_completion_request(own, "m").find(R"("prompt_logprobs":0)"), std::string::npos);
  EXPECT_NE(render_completion_request(topk, "m").find(R"("prompt_logprobs":2)"), std::string::npos);
}

TEST(CompletionRequest, StopTokensHaveTheirOwnKey) {
  SampleRequest request = plain();
  request.stop = std::vector<std::int32_t>{128001, 128009};

  EXPECT_TRUE(
      render_completion_request(request, "m").ends_with(R"("return_token_ids":true,"stop_token_ids":[128001,128009]})"));
}

TEST(CompletionRequest, StopAtNothingIsIgnoreEos) {
  SampleRequest request = plain();
  request.ignore_eos = true;

  EXPECT_TRUE(render_completion_request(request, "m").ends_with(R"("return_token_ids":true,"ignore_eos":true})"));
}

// A body of the SDK comes out as the peer forwards it.
TEST(CompletionRequest, CarriesAParsedBodyUnchanged) {
  const auto request = parse_sample_request(
      R"({"prompt":{"chunks":[{"tokens":[7]},{"tokens":[8]}]},"sampling_params":{"max_tokens":1,"seed":9223372036854775813,)"
      R"("temperature":1e-05,"top_p":"0.5"},"base_model":"m"})");

  ASSERT_TRUE(request);
  EXPECT_EQ(render_completion_request(*request, "m"),
            R"({"model":"m","prompt":[7,8],"n":1,"seed":9223372036854775813,"max_tokens":1,"temperature":0.00001,"top_p":0.5,)"
            R"("top_k":-1,"logprobs":1,"stream":false,"return_token_ids":true})");
}

}  // namespace
}  // namespace tinker::codec
