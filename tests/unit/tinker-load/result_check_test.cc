// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/result_check.h"

#include <gtest/gtest.h>

#include <string>

#include "codec/completion.h"
#include "support/vectors.h"
#include "tinker-load/completion_body.h"
#include "tinker_public.pb.h"

namespace tinker::load {
namespace {

constexpr std::uint64_t kKey = 4711;

// What a server makes of the router's body.
tinker_public::SampleResponse result(Body body, std::size_t tokens, std::uint32_t choices, std::uint64_t key = kKey) {
  const std::string json = CompletionBody(body, tokens).write({.key = key, .choices = choices, .prompt_token_ids = "null"});
  codec::CompletionWants wants;
  wants.num_samples = choices;
  const auto completion = codec::decode_completion(support::buffer_of(json), wants);
  EXPECT_TRUE(completion.has_value());
  tinker_public::SampleResponse response;
  EXPECT_TRUE(response.ParseFromString(std::string(completion->sample_response.view())));
  return response;
}

std::string fault(const tinker_public::SampleResponse& response, std::size_t tokens = 20, std::uint32_t choices = 2) {
  return ResultCheck(Body::full, tokens, choices).fault(kKey, response.SerializeAsString());
}

TEST(ResultCheck, PassesWhatTheRouterMadeForTheRequest) {
  for (const Body body : {Body::minimal, Body::full}) {
    for (const std::size_t tokens : {1u, 15u, 16u, 17u, 3000u}) {
      const ResultCheck check(body, tokens, 3);

      EXPECT_EQ(check.fault(kKey, result(body, tokens, 3).SerializeAsString()), "") << tokens;
    }
  }
}

TEST(ResultCheck, RefusesTheResultOfAnotherRequest) {
  const ResultCheck check(Body::full, 20, 2);

  for (std::uint64_t other = kKey + 1; other < kKey + 100; ++other)
    EXPECT_EQ(check.fault(other, result(Body::full, 20, 2).SerializeAsString()), "sequence 0: token 0 of another request");
}

TEST(ResultCheck, RefusesSequencesInAnotherOrder) {
  auto response = result(Body::full, 20, 2);
  response.mutable_sequences()->SwapElements(0, 1);

  EXPECT_NE(fault(response), "");
}

TEST(ResultCheck, RefusesAnotherNumberOfSequencesOrTokens) {
  auto response = result(Body::full, 20, 2);

  EXPECT_EQ(fault(response, 20, 3), "2 sequences, expected 3");
  EXPECT_EQ(fault(response, 21), "sequence 0: 20 tokens, expected 21");
  response.mutable_sequences(1)->mutable_logprobs()->resize(76);
  EXPECT_EQ(fault(response), "sequence 1: 19 logprobs, expected 20");
  response.mutable_sequences(1)->clear_logprobs();
  EXPECT_EQ(fault(response), "sequence 1: 0 logprobs, expected 20");
}

TEST(ResultCheck, RefusesAnyOtherByte) {
  const auto right = result(Body::full, 20, 2);
  ASSERT_EQ(fault(right), "");

  for (int sequence = 0; sequence < 2; ++sequence) {
    for (std::size_t byte = 0; byte < 80; ++byte) {
      auto tokens = right;
      auto logprobs = right;
      (*tokens.mutable_sequences(sequence)->mutable_tokens())[byte] ^= 1;
      (*logprobs.mutable_sequences(sequence)->mutable_logprobs())[byte] ^= 1;

      EXPECT_NE(fault(tokens), "") << byte;
      EXPECT_NE(fault(logprobs), "") << byte;
    }
  }
}

TEST(ResultCheck, RefusesAnotherStopReason) {
  auto response = result(Body::full, 20, 2);
  auto& sequence = *response.mutable_sequences(1);
  sequence.set_stop_reason(sequence.stop_reason() == tinker_public::STOP_REASON_STOP ? tinker_public::STOP_REASON_LENGTH
                                                                                     : tinker_public::STOP_REASON_STOP);

  EXPECT_EQ(fault(response), "sequence 1: the stop reason of another request");
}

TEST(ResultCheck, RefusesWhatIsNoSampleResponse) {
  EXPECT_EQ(ResultCheck(Body::full, 20, 2).fault(kKey, "\xff\xff"), "no SampleResponse in 2 bytes");
}

}  // namespace
}  // namespace tinker::load
