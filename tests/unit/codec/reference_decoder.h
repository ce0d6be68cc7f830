// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidjson/document.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/completion.h"
#include "tinker_public.pb.h"

namespace tinker::codec {

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

template <class Number>
std::vector<Number> numbers_of(std::string_view bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// What server-contract.md §4.3 and §3.5 say of an answer, written plainly over a tree and protobuf's own serialisation: shares
// no line with the decoder it is compared with. nullopt when the answer is to be refused.
class ReferenceDecoder {
 public:
  explicit ReferenceDecoder(const CompletionWants& wants) : wants_(wants) {}

  std::optional<std::string> decode(std::string_view body) const {
    rapidjson::Document answer;
    answer.Parse<rapidjson::kParseFullPrecisionFlag>(body.data(), body.size());
    if (answer.HasParseError() || !answer.IsObject() || !answer.HasMember("choices")) return std::nullopt;
    const Json& choices = answer["choices"];
    if (!choices.IsArray() || choices.Size() != wants_.num_samples) return std::nullopt;

    std::vector<const Json*> ordered;
    for (const Json& choice : choices.GetArray()) ordered.push_back(&choice);
    std::ranges::stable_sort(ordered, {}, [](const Json* choice) { return (*choice)["index"].GetInt(); });
    tinker_public::SampleResponse response;
    for (const Json* choice : ordered) {
      if (!add_sequence(*choice, response)) return std::nullopt;
    }
    if (wants_.prompt_logprobs) add_prompt(choices[0], response);
    return response.SerializeAsString();
  }

 private:
  using Json = rapidjson::Value;

  static const Json* find(const Json& object, const char* key) {
    const auto member = object.FindMember(key);
    return member == object.MemberEnd() || member->value.IsNull() ? nullptr : &member->value;
  }

  static bool add_sequence(const Json& choice, tinker_public::SampleResponse& response) {
    const Json* token_ids = find(choice, "token_ids");
    if (token_ids == nullptr) return false;
    std::vector<std::int32_t> tokens;
    for (const Json& token : token_ids->GetArray()) tokens.push_back(token.GetInt());

    std::vector<float> logprobs;
    const Json* all = find(choice, "logprobs");
    const Json* listed = all == nullptr ? nullptr : find(*all, "token_logprobs");
    if (listed != nullptr) {
      for (const Json& logprob : listed->GetArray())
        logprobs.push_back(logprob.IsNull() ? std::nanf("") : static_cast<float>(logprob.GetDouble()));
    }
    if (logprobs.empty()) logprobs.assign(tokens.size(), 0.0F);
    if (logprobs.size() != tokens.size()) return false;

    auto& sequence = *response.add_sequences();
    const Json* reason = find(choice, "finish_reason");
    const bool stop = reason != nullptr && (*reason == "stop" || *reason == "stop_token");
    sequence.set_stop_reason(stop ? tinker_public::STOP_REASON_STOP : tinker_public::STOP_REASON_LENGTH);
    sequence.set_tokens(bytes_of(tokens));
    if (listed != nullptr || !tokens.empty()) sequence.set_logprobs(bytes_of(logprobs));
    return true;
  }

  void add_prompt(const Json& choice, tinker_public::SampleResponse& response) const {
    const Json* rows = find(choice, "prompt_logprobs");
    if (rows == nullptr) return;
    const std::size_t length = wants_.prompt_tokens.size();
    std::vector<float> own(length, std::nanf(""));
    std::vector<std::vector<std::pair<int, float>>> top(length);
    std::size_t k = 1;
    for (std::size_t i = 0; i < length && i < rows->Size(); ++i) {
      const Json& row = (*rows)[static_cast<rapidjson::SizeType>(i)];
      if (row.IsNull() || i + wants_.prompt_logprobs_last_n.value_or(length) < length) continue;
      for (const auto& entry : row.GetObject()) {
        const int token = std::stoi(entry.name.GetString());
        top[i].emplace_back(token, static_cast<float>(entry.value["logprob"].GetDouble()));
        if (token == wants_.prompt_tokens[i]) own[i] = top[i].back().second;
      }
      std::ranges::stable_sort(top[i], [](const auto& a, const auto& b) { return a.second > b.second; });
      if (top[i].size() > wants_.topk_prompt_logprobs) top[i].resize(wants_.topk_prompt_logprobs);
      k = std::max(k, top[i].size());
    }
    response.set_prompt_logprobs(bytes_of(own));
    if (wants_.topk_prompt_logprobs == 0 || length == 0) return;

    std::vector<std::int32_t> tokens(length * k, 0);
    std::vector<float> logprobs(length * k, -99999.0F);
    for (std::size_t i = 0; i < length; ++i) {
      for (std::size_t j = 0; j < top[i].size(); ++j) {
        tokens[i * k + j] = top[i][j].first;
        logprobs[i * k + j] = top[i][j].second;
      }
    }
    auto& topk = *response.mutable_topk_prompt_logprobs();
    topk.set_token_ids(bytes_of(tokens));
    topk.set_logprobs(bytes_of(logprobs));
    topk.set_k(static_cast<std::uint32_t>(k));
    topk.set_length(static_cast<std::uint32_t>(length));
  }

  const CompletionWants& wants_;
};

}  // namespace tinker::codec
