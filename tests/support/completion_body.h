// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

namespace tinker::support {

// How much of it an answer of POST /v1/completions holds.
enum class CompletionShape {
  brief,    // what a forwarder reads, logprobs of one decimal: about 11 bytes a token, as tinker-load's minimal
  minimal,  // what a forwarder reads, no more: about 26 bytes a token
  vllm,     // all keys of vLLM 0.32 in its order, with the text of tokens and top_logprobs (vectors/vllm/README.md §1)
};

// An answer with one choice of `tokens` tokens. The same seed gives the same bytes.
inline std::string completion_body(std::size_t tokens, CompletionShape shape, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  const auto number = [](auto value) {
    std::array<char, 32> text;
    return std::string(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
  };
  const auto word = [&] {
    static constexpr std::array<const char*, 8> kWords = {" the", "ing",     "\\n",  " \\\"quoted\\\"",
                                                          " é",   "\\u0007", " [1,", "}"};
    return random() % 4 == 0 ? std::string(kWords[random() % kWords.size()]) : "t" + number(random() % 2048);
  };
  std::string ids, logprobs, offsets, texts, top;
  for (std::size_t i = 0; i < tokens; ++i) {
    const std::string comma = i == 0 ? "" : ",";
    const auto share = static_cast<float>(random() % 1000000 + 1) / 1000001.0F;
    const std::uint64_t tenths = random() % 100;
    const std::string logprob = shape == CompletionShape::brief ? "-" + number(tenths / 10) + "." + number(tenths % 10)
                                                                : number(static_cast<double>(std::log(share)));
    ids += comma + number(random() % 128256);
    logprobs += comma + logprob;
    if (shape != CompletionShape::vllm) continue;
    const std::string text = word();
    offsets += comma + number(4 * i);
    texts += comma + '"' + text + '"';
    top += comma + "{\"" + text + "\":" + logprob;
    if (random() % 4 != 0) top += ",\"" + word() + "2\":" + number(static_cast<double>(std::log(share / 2)));
    top += '}';
  }
  if (shape != CompletionShape::vllm) {
    return R"({"choices":[{"index":0,"finish_reason":"length","token_ids":[)" + ids + R"(],"logprobs":{"token_logprobs":[)" +
           logprobs + "]}}]}";
  }
  std::string all_text;
  for (std::size_t i = 0; i < tokens; ++i) all_text += word();
  return R"({"id":"cmpl-4f8f8a1de4a34b0d","object":"text_completion","created":1764590000,"model":"tiny","choices":[{"index":0,"text":")" +
         all_text + R"(","logprobs":{"text_offset":[)" + offsets + R"(],"token_logprobs":[)" + logprobs + R"(],"tokens":[)" +
         texts + R"(],"top_logprobs":[)" + top + R"(]},"finish_reason":"length","stop_reason":null,"token_ids":[)" + ids +
         R"(],"prompt_logprobs":null,"prompt_token_ids":[1,2,3,4,5,6,7,8],"routed_experts":null}],"service_tier":null,)"
         R"("system_fingerprint":null,"usage":{"prompt_tokens":8,"total_tokens":)" +
         number(tokens + 8) + R"(,"completion_tokens":)" + number(tokens) +
         R"(,"prompt_tokens_details":null,"completion_tokens_details":null},"kv_transfer_params":null,"ec_transfer_params":null,)"
         R"("metrics":null})";
}

}  // namespace tinker::support
