// SPDX-License-Identifier: Apache-2.0
// What the codec costs: answers of the upstream to result bytes, request bodies in, old clients' JSON out; the same reading
// with RapidJSON and simdjson beside it. Figures only; nothing here is asserted about time.
#include <benchmark/benchmark.h>
#include <rapidjson/document.h>
#include <rapidjson/reader.h>
#include <simdjson.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "codec/completion.h"
#include "codec/completion_request.h"
#include "codec/sample_json.h"
#include "codec/sample_request.h"
#include "codec/simd.h"
#include "support/completion_body.h"
#include "support/vectors.h"

namespace tinker {
namespace {

using support::CompletionShape;

constexpr std::int64_t kTokens[] = {16, 64, 1024, 8192, 32768};

template <class Loop>
void measure(benchmark::State& state, const std::string& input, Loop loop) {
  for (auto _ : state) benchmark::DoNotOptimize(loop());
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * input.size()));
  state.counters["bytes"] = static_cast<double>(input.size());
}

template <CompletionShape shape>
void decode_completion(benchmark::State& state) {
  const std::string text = support::completion_body(static_cast<std::size_t>(state.range(0)), shape);
  const base::Buffer body = support::buffer_of(text);
  if (!codec::decode_completion(body, {})) return state.SkipWithError("not decoded");
  measure(state, text, [&] { return codec::decode_completion(body, {})->tokens; });
}

// On a machine that has no more than `simd`.
template <CompletionShape shape, codec::Simd simd>
void decode_completion_by(benchmark::State& state) {
  const codec::Simd fastest = codec::simd_in_use();
  codec::simd_in_use() = simd;
  decode_completion<shape>(state);
  codec::simd_in_use() = fastest;
}

// The two arrays into vectors, by events: no tree. Knows its place by the last key, which is less than is needed (cases.md U8).
struct ArraysOfEvents : rapidjson::BaseReaderHandler<rapidjson::UTF8<>, ArraysOfEvents> {
  std::vector<std::int32_t> tokens;
  std::vector<float> logprobs;
  std::string_view in;

  bool Key(const char* key, rapidjson::SizeType size, bool) {
    in = {};
    if (std::string_view(key, size) == "token_ids") in = "token_ids";
    if (std::string_view(key, size) == "token_logprobs") in = "token_logprobs";
    return true;
  }
  bool Uint(unsigned value) {
    if (in == "token_ids") tokens.push_back(static_cast<std::int32_t>(value));
    return true;
  }
  bool Double(double value) {
    if (in == "token_logprobs") logprobs.push_back(static_cast<float>(value));
    return true;
  }
  bool Default() { return true; }
};

template <CompletionShape shape>
void rapidjson_sax(benchmark::State& state) {
  const std::string text = support::completion_body(static_cast<std::size_t>(state.range(0)), shape);
  measure(state, text, [&] {
    ArraysOfEvents events;
    rapidjson::StringStream stream(text.c_str());
    rapidjson::Reader().Parse(stream, events);
    return events.tokens.size() + events.logprobs.size();
  });
}

template <CompletionShape shape>
void rapidjson_dom(benchmark::State& state) {
  const std::string text = support::completion_body(static_cast<std::size_t>(state.range(0)), shape);
  measure(state, text, [&] {
    rapidjson::Document document;
    document.Parse(text.data(), text.size());
    std::vector<std::int32_t> tokens;
    std::vector<float> logprobs;
    const auto& choice = document["choices"][0];
    for (const auto& token : choice["token_ids"].GetArray()) tokens.push_back(token.GetInt());
    for (const auto& logprob : choice["logprobs"]["token_logprobs"].GetArray())
      logprobs.push_back(static_cast<float>(logprob.GetDouble()));
    return tokens.size() + logprobs.size();
  });
}

template <CompletionShape shape>
void simdjson_on_demand(benchmark::State& state) {
  const std::string text = support::completion_body(static_cast<std::size_t>(state.range(0)), shape);
  const simdjson::padded_string padded(text);
  simdjson::ondemand::parser parser;
  measure(state, text, [&] {
    auto document = parser.iterate(padded);
    std::vector<std::int32_t> tokens;
    std::vector<float> logprobs;
    for (auto choice : document["choices"]) {
      for (auto logprob : choice["logprobs"]["token_logprobs"]) logprobs.push_back(static_cast<float>(double(logprob)));
      for (auto token : choice["token_ids"]) tokens.push_back(static_cast<std::int32_t>(std::int64_t(token)));
    }
    return tokens.size() + logprobs.size();
  });
}

std::string sample_request(std::int64_t prompt_tokens) {
  std::string body = R"({"num_samples":1,"prompt":{"chunks":[{"tokens":[)";
  for (std::int64_t i = 0; i < prompt_tokens; ++i) body += (i == 0 ? "" : ",") + std::to_string(i * 7919 % 128256);
  return body +
         R"(],"type":"encoded_text"}]},"sampling_params":{"max_tokens":16,"seed":42,"temperature":1.0,"top_k":-1,"top_p":1.0},)"
         R"("sampling_session_id":"sampling_0a1b2c3d","seq_id":7,"prompt_logprobs":false,"topk_prompt_logprobs":0,)"
         R"("topk_sample_logprobs":0,"prompt_alt_tokens_k":0,"record_stability_info":false,"type":"sample"})";
}

void parse_sample_request(benchmark::State& state) {
  const std::string body = sample_request(state.range(0));
  if (!codec::parse_sample_request(body)) return state.SkipWithError("not parsed");
  measure(state, body, [&] { return codec::parse_sample_request(body)->max_tokens; });
}

void render_completion_request(benchmark::State& state) {
  const auto request = codec::parse_sample_request(sample_request(state.range(0)));
  const std::string rendered = codec::render_completion_request(*request, "tiny");
  measure(state, rendered, [&] { return codec::render_completion_request(*request, "tiny").size(); });
}

void sample_json(benchmark::State& state) {
  const base::Buffer body =
      support::buffer_of(support::completion_body(static_cast<std::size_t>(state.range(0)), CompletionShape::minimal));
  const auto completion = codec::decode_completion(body, {});
  const std::string json = *codec::sample_json(completion->sample_response.view());
  measure(state, json, [&] { return codec::sample_json(completion->sample_response.view())->size(); });
}

void each_size(benchmark::internal::Benchmark* benchmark) {
  for (const std::int64_t tokens : kTokens) benchmark->Arg(tokens);
}

BENCHMARK(decode_completion<CompletionShape::brief>)->Apply(each_size);
BENCHMARK(decode_completion<CompletionShape::minimal>)->Apply(each_size);
BENCHMARK(rapidjson_sax<CompletionShape::minimal>)->Apply(each_size);
BENCHMARK(rapidjson_dom<CompletionShape::minimal>)->Apply(each_size);
BENCHMARK(simdjson_on_demand<CompletionShape::brief>)->Apply(each_size);
BENCHMARK(simdjson_on_demand<CompletionShape::minimal>)->Apply(each_size);
BENCHMARK(decode_completion<CompletionShape::vllm>)->Apply(each_size);
BENCHMARK(rapidjson_sax<CompletionShape::vllm>)->Apply(each_size);
BENCHMARK(rapidjson_dom<CompletionShape::vllm>)->Apply(each_size);
BENCHMARK(simdjson_on_demand<CompletionShape::vllm>)->Apply(each_size);
BENCHMARK(decode_completion_by<CompletionShape::brief, codec::Simd::baseline>)->Arg(32768);
BENCHMARK(decode_completion_by<CompletionShape::vllm, codec::Simd::baseline>)->Arg(32768);
BENCHMARK(decode_completion_by<CompletionShape::brief, codec::Simd::plain>)->Arg(32768);
BENCHMARK(decode_completion_by<CompletionShape::vllm, codec::Simd::plain>)->Arg(32768);
BENCHMARK(parse_sample_request)->Apply(each_size);
BENCHMARK(render_completion_request)->Apply(each_size);
BENCHMARK(sample_json)->Apply(each_size);

}  // namespace
}  // namespace tinker
