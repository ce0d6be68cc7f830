// SPDX-License-Identifier: Apache-2.0
// Bodies with random faults: whatever comes in, the codec gives a result that is whole or an error, and reads nothing that is
// not its own (this test runs under the address sanitizer too).
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "codec/completion.h"
#include "codec/completion_request.h"
#include "codec/json_body.h"
#include "codec/sample_json.h"
#include "codec/sample_request.h"
#include "support/completion_body.h"
#include "support/vectors.h"
#include "tinker_public.pb.h"
#include "unit/codec/every_simd.h"

namespace tinker::codec {
namespace {

constexpr int kRounds = 20'000;

// A text with a few bytes changed, taken out, doubled or moved.
std::string mutated(std::string text, std::mt19937_64& random) {
  static constexpr std::string_view kTelling = "\"\\{}[]:,0123456789.eE+-nulltruefalse \n\xFF\xC3";
  for (std::size_t faults = 1 + random() % 4; faults > 0 && !text.empty(); --faults) {
    const std::size_t at = random() % text.size();
    const std::size_t count = 1 + random() % 8;
    switch (random() % 6) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text[at] = kTelling[random() % kTelling.size()];
        break;
      case 2:
        text.erase(at, count);
        break;
      case 3:
        text.insert(at, text.substr(random() % text.size(), count));
        break;
      case 4:
        text.insert(at, count, kTelling[random() % kTelling.size()]);
        break;
      default:
        if (random() % 8 == 0) text.resize(at);
    }
  }
  return text;
}

class MutatedAnswers : public EverySimd {};
EVERY_SIMD(MutatedAnswers);

TEST_P(MutatedAnswers, GiveAWholeResultOrAnError) {
  std::mt19937_64 random(21);
  const CompletionWants wants{.prompt_logprobs = true, .topk_prompt_logprobs = 2, .prompt_tokens = {1, 2, 3, 4, 5, 6, 7, 8}};
  const std::vector<std::string> bodies = {
      std::string(support::body_of(support::read_vector("vllm/direct/ok-prompt-logprobs5.http"))),
      std::string(support::body_of(support::read_vector("vllm/direct/ok-stop-string.http"))),
      support::completion_body(8, support::CompletionShape::minimal),
  };
  int decoded = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string body = mutated(bodies[random() % bodies.size()], random);

    const auto completion = decode_completion(support::buffer_of(body), wants);

    if (!completion) {
      ASSERT_FALSE(completion.error().text.empty());
      continue;
    }
    ++decoded;
    tinker_public::SampleResponse response;
    const std::string_view bytes = completion->sample_response.view();
    ASSERT_TRUE(response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) << body;
    ASSERT_EQ(response.sequences_size(), 1);
    ASSERT_EQ(response.sequences(0).tokens().size(), response.sequences(0).logprobs().size()) << body;
    ASSERT_EQ(response.sequences(0).tokens().size(), completion->tokens * 4);
    ASSERT_TRUE(sample_json(bytes));
  }
  EXPECT_GT(decoded, kRounds / 20);
  EXPECT_LT(decoded, kRounds);
}

TEST(Mutations, OfRequestsGiveAValidRequestOrAnError) {
  std::mt19937_64 random(22);
  std::vector<std::string> bodies;
  for (const auto& path : support::list_vectors("", ".json")) {
    if (!path.string().starts_with("asample_")) continue;
    std::string body = support::read_vector(path);
    body.replace(body.find("sess-0001:sample:0"), 18, "sampling_1");
    bodies.push_back(std::move(body));
  }
  std::string long_prompt = support::read_vector("asample_multi_chunk.json");
  long_prompt.replace(long_prompt.find("sess-0001:sample:0"), 18, "sampling_1");
  for (int token = 0; token < 600; ++token) long_prompt.insert(long_prompt.find("[1,2") + 1, std::to_string(token) + ",");
  bodies.insert(bodies.end(), bodies.size() / 2, long_prompt);
  int accepted = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string body = mutated(bodies[random() % bodies.size()], random);

    const auto request = parse_sample_request(body);

    if (!request) {
      const base::Error& error = request.error();
      ASSERT_FALSE(error.text.empty());
      ASSERT_EQ(error.faults.empty(), error.code == base::Code::invalid_argument) << body;
      continue;
    }
    ++accepted;
    ASSERT_GT(request->max_tokens, 0u);
    ASSERT_GE(request->num_samples, 1u);
    ASSERT_LE(request->num_samples, 16384u);
    ASSERT_GE(request->temperature, 0.0);
    ASSERT_GT(request->top_p, 0.0);
    ASSERT_LE(request->top_p, 1.0);
    for (const std::int32_t token : request->prompt_tokens) ASSERT_GE(token, 0);
    rapidjson::Document forwarded;
    const std::string rendered = render_completion_request(*request, "m");
    forwarded.Parse<rapidjson::kParseValidateEncodingFlag>(rendered.data(), rendered.size());
    ASSERT_FALSE(forwarded.HasParseError() && forwarded.GetParseError() != rapidjson::kParseErrorNumberTooBig) << rendered;
  }
  EXPECT_GT(accepted, kRounds / 20);
  EXPECT_LT(accepted, kRounds);
}

TEST(Mutations, OfSmallBodiesGiveFieldsOrAnError) {
  std::mt19937_64 random(23);
  const std::string whole = support::read_vector("create_session.json");
  for (int round = 0; round < kRounds; ++round) {
    JsonBody body(mutated(whole, random));

    body.text("sdk_version");
    const std::string tags = body.text_list_json("tags");
    const auto metadata = body.optional_object_json("user_metadata");
    body.literal("type", "create_session");

    if (body.error()) continue;
    rapidjson::Document kept;
    ASSERT_FALSE(kept.Parse(tags.c_str()).HasParseError()) << tags;
    ASSERT_FALSE(kept.Parse(metadata.value_or("{}").c_str()).HasParseError()) << *metadata;
  }
}

}  // namespace
}  // namespace tinker::codec
