// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/completion_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "support/vectors.h"

namespace tinker::load {
namespace {

constexpr unsigned kExact = rapidjson::kParseFullPrecisionFlag | rapidjson::kParseValidateEncodingFlag;

Asked asked(std::uint64_t key, std::uint32_t choices = 1) {
  return {.key = key, .choices = choices, .prompt_tokens = 5, .model = "tiny", .prompt_token_ids = "[5,17,301,42,999]"};
}

rapidjson::Document parsed(const std::string& json) {
  rapidjson::Document document;
  document.Parse<kExact>(json.data(), json.size());
  EXPECT_FALSE(document.HasParseError()) << document.GetErrorOffset() << " of " << json.substr(0, 300);
  return document;
}

std::vector<std::string> keys(const rapidjson::Value& object) {
  std::vector<std::string> names;
  for (const auto& member : object.GetObject()) names.emplace_back(member.name.GetString());
  return names;
}

// The parts of the text between `from` and the next ']', split at commas.
std::vector<std::string> list_behind(const std::string& json, const std::string& from) {
  const std::size_t begin = json.find(from) + from.size();
  const std::string list = json.substr(begin, json.find(']', begin) - begin);
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::size_t characters(const std::string& utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(utf8, [](char c) { return (c & 0xC0) != 0x80; }));
}

TEST(CompletionBody, FullHasTheKeysOfVllmInTheirOrder) {
  const std::string capture = support::read_vector("vllm/direct/ok-n4-max16.http");
  const auto theirs = parsed(capture.substr(capture.find("\r\n\r\n") + 4));

  const auto ours = parsed(CompletionBody(Body::full, 16).write(asked(1, 4)));

  EXPECT_EQ(keys(ours), keys(theirs));
  EXPECT_EQ(keys(ours["usage"]), keys(theirs["usage"]));
  ASSERT_EQ(ours["choices"].Size(), theirs["choices"].Size());
  for (rapidjson::SizeType i = 0; i < ours["choices"].Size(); ++i) {
    const auto& choice = ours["choices"][i];
    const auto& their_choice = theirs["choices"][i];
    EXPECT_EQ(keys(choice), keys(their_choice));
    EXPECT_EQ(keys(choice["logprobs"]), keys(their_choice["logprobs"]));
    for (const std::string& key : keys(choice)) {
      if (key == "stop_reason") continue;
      EXPECT_EQ(choice[key.c_str()].GetType(), their_choice[key.c_str()].GetType()) << key;
    }
    EXPECT_EQ(choice["index"].GetUint(), i);
  }
}

TEST(CompletionBody, MinimalHasWhatAForwarderNeeds) {
  const auto body = parsed(CompletionBody(Body::minimal, 20).write(asked(1, 2)));

  EXPECT_EQ(keys(body), std::vector<std::string>{"choices"});
  ASSERT_EQ(body["choices"].Size(), 2u);
  EXPECT_EQ(keys(body["choices"][1]), (std::vector<std::string>{"index", "text", "logprobs", "finish_reason", "token_ids"}));
  EXPECT_EQ(keys(body["choices"][1]["logprobs"]), std::vector<std::string>{"token_logprobs"});
}

class CompletionBodyOf : public testing::TestWithParam<Body> {};
INSTANTIATE_TEST_SUITE_P(Forms, CompletionBodyOf, testing::Values(Body::minimal, Body::full),
                         [](const auto& form) { return form.param == Body::minimal ? "Minimal" : "Full"; });

TEST_P(CompletionBodyOf, HoldsTheTokensAndLogprobsOfTheRequest) {
  for (const std::size_t tokens : {0u, 1u, 15u, 16u, 17u, 300u}) {
    const auto body = parsed(CompletionBody(GetParam(), tokens).write(asked(77, 3)));

    for (std::uint32_t choice = 0; choice < 3; ++choice) {
      const auto& value = body["choices"][choice];
      ASSERT_EQ(value["token_ids"].Size(), tokens);
      ASSERT_EQ(value["logprobs"]["token_logprobs"].Size(), tokens);
      for (std::uint32_t i = 0; i < tokens; ++i) {
        EXPECT_EQ(value["token_ids"][i].GetInt(), token_at(77, choice, i));
        EXPECT_EQ(static_cast<float>(value["logprobs"]["token_logprobs"][i].GetDouble()),
                  logprob_at(GetParam(), 77, choice, i));
      }
      EXPECT_STREQ(value["finish_reason"].GetString(), stops(77, choice) ? "stop" : "length");
    }
  }
}

TEST_P(CompletionBodyOf, WritesEveryLogprobWithAPointOrAnExponent) {
  const std::string json = CompletionBody(GetParam(), 20000).write(asked(77));

  for (const std::string& text : list_behind(json, R"("token_logprobs":[)")) {
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text;
    ASSERT_NE(text, "-0.0");
  }
}

TEST(CompletionBody, FullShowsLogprobsAsVllmDoes) {
  const std::string json = CompletionBody(Body::full, 20000).write(asked(77));

  std::size_t longest = 0;
  for (const std::string& text : list_behind(json, R"("token_logprobs":[)")) {
    double value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    char shortest[64];
    const std::string again(shortest, std::to_chars(shortest, shortest + sizeof shortest, value).ptr);
    ASSERT_EQ(static_cast<double>(static_cast<float>(value)), value) << text << " is no widened float";
    ASSERT_TRUE(text == again || text == again + ".0") << text;
    longest = std::max(longest, text.size());
  }
  EXPECT_GE(longest, 17u);
}

TEST(CompletionBody, FullAgreesWithItself) {
  const auto body = parsed(CompletionBody(Body::full, 500).write(asked(77, 2)));

  for (const auto& choice : body["choices"].GetArray()) {
    const auto& logprobs = choice["logprobs"];
    std::string text;
    for (rapidjson::SizeType i = 0; i < 500; ++i) {
      const std::string token = logprobs["tokens"][i].GetString();
      EXPECT_EQ(logprobs["text_offset"][i].GetUint64(), characters(text));
      text += token;
      const auto& top = logprobs["top_logprobs"][i];
      ASSERT_GE(top.MemberCount(), 1u);
      ASSERT_LE(top.MemberCount(), 2u);
      const std::vector<std::string> names = keys(top);
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
      EXPECT_EQ(names[0], token);
      EXPECT_EQ(top.MemberBegin()->value.GetDouble(), logprobs["token_logprobs"][i].GetDouble());
    }
    EXPECT_EQ(choice["text"].GetString(), text);
    ASSERT_TRUE(choice["prompt_token_ids"].IsArray());
    EXPECT_EQ(choice["prompt_token_ids"].Size(), 5u);
  }
  EXPECT_EQ(body["usage"]["prompt_tokens"].GetUint(), 5u);
  EXPECT_EQ(body["usage"]["completion_tokens"].GetUint(), 1000u);
  EXPECT_EQ(body["usage"]["total_tokens"].GetUint(), 1005u);
}

TEST(CompletionBody, IsAsLongAsWhatItStandsFor) {
  EXPECT_NEAR(static_cast<double>(CompletionBody(Body::minimal, 32768).write(asked(1)).size()), 356 * 1024, 10 * 1024);
  const double per_token = static_cast<double>(CompletionBody(Body::full, 32768).write(asked(1)).size()) / 32768;
  EXPECT_GE(per_token, 80);
  EXPECT_LE(per_token, 89);
}

}  // namespace
}  // namespace tinker::load
