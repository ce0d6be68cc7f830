// SPDX-License-Identifier: Apache-2.0
// The decoder against bytes that it did not make: the SDK's own serialisation, and every recorded answer of vLLM and its
// router.
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <functional>
#include <random>
#include <string>

#include "codec/completion.h"
#include "support/completion_body.h"
#include "support/vectors.h"
#include "unit/codec/every_simd.h"
#include "unit/codec/reference_decoder.h"

namespace tinker::codec {
namespace {

using support::body_of;
using support::buffer_of;
using support::read_vector;

rapidjson::Document json_of(std::string_view text) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseFullPrecisionFlag>(text.data(), text.size());
  return document;
}

std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

template <class Each>
std::string list(const rapidjson::Value& values, Each each) {
  std::string json = "[";
  for (const auto& value : values.GetArray()) json += (json.size() > 1 ? "," : "") + each(value);
  return json + "]";
}

std::string logprob_of(const rapidjson::Value& value) { return value.IsNull() ? "null" : number(value.GetDouble()); }

// The answer of an upstream that leads to a golden SampleResponse, made from its JSON twin. The twin does not tell a present
// but empty list of logprobs from an absent one: `empty_logprobs` does.
std::string answer_for(const rapidjson::Document& twin, const std::string& empty_logprobs, const std::string& prompt_logprobs) {
  std::string choices;
  int index = 0;
  for (const auto& sequence : twin["sequences"].GetArray()) {
    const auto& tokens = sequence["tokens"];
    const std::string token_logprobs = sequence["logprobs"].IsNull() ? empty_logprobs : list(sequence["logprobs"], logprob_of);
    choices += (index > 0 ? "," : "") + std::string("{\"index\":") + std::to_string(index) +
               ",\"logprobs\":{\"token_logprobs\":" + token_logprobs + "},\"finish_reason\":\"" +
               sequence["stop_reason"].GetString() +
               "\",\"token_ids\":" + list(tokens, [](const auto& token) { return std::to_string(token.GetInt()); }) +
               ",\"prompt_logprobs\":" + prompt_logprobs + "}";
    ++index;
  }
  return "{\"choices\":[" + choices + "]}";
}

void expect_golden(const std::string& name, const std::string& empty_logprobs = "null", CompletionWants wants = {},
                   const std::string& prompt_logprobs = "null", const std::string& tail = "") {
  const auto twin = json_of(read_vector(name + ".json"));
  wants.num_samples = twin["sequences"].Size();

  const auto completion = decode_completion(buffer_of(answer_for(twin, empty_logprobs, prompt_logprobs)), wants);

  ASSERT_TRUE(completion) << name << ": " << completion.error().text;
  EXPECT_TRUE(std::string(completion->sample_response.view()) + tail == read_vector(name + ".bin")) << name;
}

TEST(CompletionVectors, AreTheBytesThatTheSdkWrites) {
  expect_golden("sample_single");
  expect_golden("sample_length_stop");
  expect_golden("sample_multi", "[]");
  expect_golden("sample_empty_tokens");
  expect_golden("sample_32k");
}

TEST(CompletionVectors, AreTheBytesThatTheSdkWritesOfPromptLogprobs) {
  expect_golden("sample_topk_prompt", "null",
                {.prompt_logprobs = true, .topk_prompt_logprobs = 2, .prompt_tokens = {10, 11, 13}},
                R"([null,{"11":{"logprob":-1.0,"rank":1},"12":{"logprob":-1.5,"rank":2}},{"13":{"logprob":-2.0,"rank":1}}])");
  // Its last field, the prompt tokens found in a cache, is one that no upstream tells.
  expect_golden("sample_prompt_logprobs_nan", "null", {.prompt_logprobs = true, .prompt_tokens = {1, 2, 3, 4}},
                R"([null,{"2":{"logprob":-1.5}},{"9":{"logprob":-0.1},"3":{"logprob":-0.25}},{"9":{"logprob":-0.1}}])",
                std::string("\x20\x03", 2));
}

// What the recorded request asked for.
CompletionWants wants_of_recorded(const std::filesystem::path& answer) {
  CompletionWants wants;
  std::filesystem::path request = answer;
  request.replace_extension(".json");
  if (!std::filesystem::exists(std::filesystem::path(TINKER_VECTORS) / request)) return wants;
  const auto json = json_of(read_vector(request));
  if (!json.IsObject()) return wants;
  if (json.HasMember("n") && json["n"].IsUint()) wants.num_samples = json["n"].GetUint();
  if (!json.HasMember("prompt") || !json["prompt"].IsArray()) return wants;
  const auto& prompt = json["prompt"];
  if (!prompt.Empty() && prompt[0].IsArray()) wants.num_samples *= prompt.Size();
  if (json.HasMember("prompt_logprobs") && json["prompt_logprobs"].IsInt()) {
    wants.prompt_logprobs = true;
    wants.topk_prompt_logprobs = static_cast<std::uint32_t>(std::max(0, json["prompt_logprobs"].GetInt()));
    for (const auto& token : prompt.GetArray()) wants.prompt_tokens.push_back(token.GetInt());
  }
  return wants;
}

void expect_as_reference(const std::string& what, std::string_view body, const CompletionWants& wants) {
  const auto completion = decode_completion(buffer_of(body), wants);
  const auto expected = ReferenceDecoder(wants).decode(body);

  ASSERT_EQ(completion.has_value(), expected.has_value()) << what << (completion ? "" : ": " + completion.error().text);
  if (!expected) return;
  ASSERT_TRUE(completion->sample_response.view() == *expected) << what;
}

TEST(CompletionVectors, EveryRecordedAnswerIsDecodedAsTheReferenceDoes) {
  int decoded = 0;
  int with_prompt_logprobs = 0;
  int refused = 0;
  for (const auto& path : support::list_vectors("vllm", ".http")) {
    const std::string answer = read_vector(path);
    if (!answer.starts_with("HTTP/1.1 200")) continue;
    CompletionWants wants = wants_of_recorded(path);
    expect_as_reference(path.string(), body_of(answer), wants);
    if (const auto completion = decode_completion(buffer_of(body_of(answer)), wants)) {
      ++decoded;
      with_prompt_logprobs += wants.prompt_logprobs;
    } else {
      ++refused;
    }
    if (!wants.prompt_logprobs) continue;
    wants.prompt_logprobs_last_n = 3;
    wants.topk_prompt_logprobs = 1;
    expect_as_reference(path.string() + ", last 3", body_of(answer), wants);
  }
  EXPECT_GE(decoded, 50);
  EXPECT_GE(with_prompt_logprobs, 7);
  EXPECT_GE(refused, 10);  // streams, lists of models, answers without token ids
}

class LongAnswers : public EverySimd {};
EVERY_SIMD(LongAnswers);

TEST_P(LongAnswers, AreDecodedAsTheReferenceDoes) {
  for (const std::size_t tokens : {0u, 1u, 15u, 16u, 17u, 1000u, 32768u}) {
    for (const auto shape :
         {support::CompletionShape::brief, support::CompletionShape::minimal, support::CompletionShape::vllm})
      expect_as_reference(std::to_string(tokens), support::completion_body(tokens, shape, tokens), {});
  }
}

// A value that the decoder has to skip.
std::string random_value(std::mt19937_64& random, int depth) {
  static constexpr const char* kScalars[] = {"null",    "true",      "-1.5e+3",       "0", R"("\"token_ids\":[1,2]")",
                                             R"("\\")", R"("]}{[")", R"("é\u00e9\n")"};
  if (depth == 0 || random() % 2 == 0) return kScalars[random() % std::size(kScalars)];
  const bool object = random() % 2 == 0;
  std::string json = object ? "{" : "[";
  for (std::size_t i = 0, count = random() % 4; i < count; ++i) {
    if (i > 0) json += ',';
    if (object) json += R"("token_ids":)";
    json += random_value(random, depth - 1);
  }
  return json + (object ? '}' : ']');
}

// Members in any order, white space between them.
std::string random_object(std::mt19937_64& random, std::vector<std::string> members) {
  for (std::size_t extra = random() % 4; extra > 0; --extra)
    members.push_back("\"x" + std::to_string(extra) + "\" :" + random_value(random, 4));
  std::ranges::shuffle(members, random);
  std::string json = "{";
  for (const std::string& member : members) json += (json.size() > 1 ? "," : "") + std::string(random() % 3, ' ') + member;
  return json + std::string(random() % 2, '\n') + "}";
}

std::string random_numbers(std::mt19937_64& random, std::size_t count, const std::function<std::string()>& next) {
  std::string json = "[";
  for (std::size_t i = 0; i < count; ++i) json += (i > 0 ? "," : "") + std::string(random() % 8 == 0 ? " " : "") + next();
  return json + "]";
}

std::string random_choice(std::mt19937_64& random, std::size_t index) {
  const std::size_t tokens = random() % 40;
  const auto token = [&] { return std::to_string(static_cast<std::int32_t>(random()) >> random() % 32); };
  const auto logprob = [&] {
    return number(static_cast<double>(-std::ldexp(static_cast<float>(random() % 9999 + 1), -static_cast<int>(random() % 40))));
  };
  std::vector<std::string> members = {"\"index\":" + std::to_string(index)};
  if (random() % 20 != 0) members.push_back("\"token_ids\":" + random_numbers(random, tokens, token));
  if (random() % 20 != 0) {
    const std::size_t count = random() % 20 == 0 ? random() % 40 : tokens;
    const auto logprobs = random_object(random, {"\"token_logprobs\":" + random_numbers(random, count, logprob)});
    members.push_back("\"logprobs\": " + (random() % 20 == 0 ? "null" : logprobs));
  }
  if (random() % 4 != 0) members.push_back(random() % 2 == 0 ? R"("finish_reason":"stop")" : R"("finish_reason": "length")");
  return random_object(random, members);
}

TEST(CompletionVectors, RandomAnswersAreDecodedAsTheReferenceDoes) {
  std::mt19937_64 random(11);
  int decoded = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> choices(1 + random() % 4);
    for (std::size_t i = 0; i < choices.size(); ++i) choices[i] = random_choice(random, i);
    std::ranges::shuffle(choices, random);
    std::string listed;
    for (const std::string& choice : choices) listed += (listed.empty() ? "" : ",") + choice;
    const std::string body = random_object(random, {"\"choices\" :[" + listed + "]", R"("id":"cmpl-1")"});
    const CompletionWants wants{.num_samples = static_cast<std::uint32_t>(choices.size())};

    expect_as_reference(body, body, wants);
    decoded += decode_completion(buffer_of(body), wants).has_value();
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(decoded, 3000);
}

}  // namespace
}  // namespace tinker::codec
