// SPDX-License-Identifier: Apache-2.0
#include "codec/sample_json.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "support/vectors.h"
#include "tinker_public.pb.h"
#include "unit/codec/reference_decoder.h"

namespace tinker::codec {
namespace {

using support::read_vector;

std::string json_of(const tinker_public::SampleResponse& response) { return *sample_json(response.SerializeAsString()); }

TEST(SampleJson, WritesTheFormOfOldClients) {
  EXPECT_EQ(*sample_json(read_vector("sample_single.bin")),
            R"({"type":"sample","sequences":[{"stop_reason":"stop","tokens":[5,6,7],"logprobs":[-0.5,-0.25,-1.0]}],)"
            R"("prompt_logprobs":null,"topk_prompt_logprobs":null})");
  EXPECT_EQ(*sample_json(read_vector("sample_length_stop.bin")),
            R"({"type":"sample","sequences":[{"stop_reason":"length","tokens":[5,6,7],"logprobs":[-0.5,-0.25,-1.0]}],)"
            R"("prompt_logprobs":null,"topk_prompt_logprobs":null})");
  EXPECT_EQ(*sample_json(read_vector("sample_no_logprobs.bin")),
            R"({"type":"sample","sequences":[{"stop_reason":"length","tokens":[1,2],"logprobs":null}],)"
            R"("prompt_logprobs":null,"topk_prompt_logprobs":null})");
  EXPECT_EQ(*sample_json(""), R"({"type":"sample","sequences":[],"prompt_logprobs":null,"topk_prompt_logprobs":null})");
}

TEST(SampleJson, NanIsNullAndUnusedCellsAreLeftOut) {
  EXPECT_EQ(*sample_json(read_vector("sample_topk_prompt.bin")),
            R"({"type":"sample","sequences":[{"stop_reason":"stop","tokens":[5,6,7],"logprobs":[-0.5,-0.25,-1.0]}],)"
            R"("prompt_logprobs":[null,-1.0,-2.0],"topk_prompt_logprobs":[null,[[11,-1.0],[12,-1.5]],[[13,-2.0]]]})");
}

// Every key that a recorded answer to an old client has is there, with a value of the same kind.
TEST(SampleJson, HasTheShapeThatOldClientsWereRecordedWith) {
  rapidjson::Document ours;
  ours.Parse(sample_json(read_vector("sample_prompt_logprobs_nan.bin"))->c_str());
  int compared = 0;
  for (const char* version : {"0.16.1", "0.18.0"}) {
    std::ifstream lines(std::string(TINKER_VECTORS) + "/exchange_" + version + ".jsonl");
    for (std::string line; std::getline(lines, line);) {
      rapidjson::Document exchange;
      exchange.Parse(line.data(), line.size());
      if (!exchange["response"].HasMember("body")) continue;
      const std::string body = exchange["response"]["body"].GetString();
      if (!body.starts_with(R"({"type":"sample",)")) continue;
      rapidjson::Document recorded;
      recorded.Parse(body.c_str());
      for (const auto& member : recorded.GetObject()) {
        ASSERT_TRUE(ours.HasMember(member.name)) << member.name.GetString();
        if (member.value.IsNull()) continue;
        EXPECT_EQ(ours[member.name].GetType(), member.value.GetType()) << member.name.GetString();
      }
      EXPECT_EQ(ours["type"], recorded["type"]);
      EXPECT_EQ(ours["sequences"][0], recorded["sequences"][0]);
      ++compared;
    }
  }
  EXPECT_GE(compared, 6);
}

TEST(SampleJson, AgreesWithTheSdksOwnReading) {
  for (const char* name : {"sample_single", "sample_prompt_logprobs_nan", "sample_multi", "sample_topk_prompt", "sample_32k"}) {
    rapidjson::Document ours;
    ours.Parse<rapidjson::kParseFullPrecisionFlag>(sample_json(read_vector(std::string(name) + ".bin"))->c_str());
    rapidjson::Document twin;
    twin.Parse<rapidjson::kParseFullPrecisionFlag>(read_vector(std::string(name) + ".json").c_str());

    EXPECT_EQ(ours["prompt_logprobs"], twin["prompt_logprobs"]) << name;
    EXPECT_EQ(ours["topk_prompt_logprobs"], twin["topk_prompt_logprobs"]) << name;
    ASSERT_EQ(ours["sequences"].Size(), twin["sequences"].Size()) << name;
    for (rapidjson::SizeType i = 0; i < ours["sequences"].Size(); ++i) {
      const auto& sequence = ours["sequences"][i];
      const auto& expected = twin["sequences"][i];
      EXPECT_EQ(sequence["stop_reason"], expected["stop_reason"]) << name;
      EXPECT_EQ(sequence["tokens"], expected["tokens"]) << name;
      if (expected["logprobs"].IsNull()) continue;  // absent or empty: the twin does not tell
      EXPECT_EQ(sequence["logprobs"], expected["logprobs"]) << name;
    }
  }
}

TEST(SampleJson, EveryFloatReadsBackAsItself) {
  std::mt19937_64 random(9);
  std::vector<float> logprobs = {0.0F, -0.0F, 1e-45F, 3.4028235e38F, -9999.0F, 1e16F, 1e23F};
  while (logprobs.size() < 50'000) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(value)) logprobs.push_back(value);
  }
  tinker_public::SampleResponse response;
  response.set_prompt_logprobs(bytes_of(logprobs));

  rapidjson::Document json;
  json.Parse<rapidjson::kParseFullPrecisionFlag>(json_of(response).c_str());

  const auto& shown = json["prompt_logprobs"];
  ASSERT_EQ(shown.Size(), logprobs.size());
  for (rapidjson::SizeType i = 0; i < shown.Size(); ++i) {
    ASSERT_TRUE(shown[i].IsDouble()) << i;  // 1.0, not 1: an old client's list is one of floats
    ASSERT_EQ(std::bit_cast<std::uint64_t>(shown[i].GetDouble()),
              std::bit_cast<std::uint64_t>(static_cast<double>(logprobs[i])));
  }
}

TEST(SampleJson, WritesNoNumberThatJsonLacks) {
  tinker_public::SampleResponse response;
  response.set_prompt_logprobs(bytes_of(std::vector<float>{std::nanf(""), -INFINITY, INFINITY}));

  rapidjson::Document json;
  json.Parse(json_of(response).c_str());

  ASSERT_FALSE(json.HasParseError());
  EXPECT_TRUE(json["prompt_logprobs"][0].IsNull());
  EXPECT_LT(json["prompt_logprobs"][1].GetDouble(), -3.5e38);
  EXPECT_GT(json["prompt_logprobs"][2].GetDouble(), 3.5e38);
}

TEST(SampleJson, RefusesBytesThatAreNoResult) {
  EXPECT_FALSE(sample_json("\xFF\xFF\xFF"));
  EXPECT_FALSE(sample_json(read_vector("sample_single.bin").substr(0, 10)));
  tinker_public::SampleResponse response;
  response.mutable_topk_prompt_logprobs()->set_k(4);
  response.mutable_topk_prompt_logprobs()->set_length(4'000'000'000);
  EXPECT_FALSE(sample_json(response.SerializeAsString()));
}

}  // namespace
}  // namespace tinker::codec
