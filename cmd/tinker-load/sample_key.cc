// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/sample_key.h"

#include <algorithm>

namespace tinker::load {
namespace {

constexpr int kBits = 15;

std::uint64_t hash_at(std::uint64_t key, std::uint32_t choice, std::size_t i) {
  return i < kChecked ? mix(mix(key + choice * 0x1000003ull) + i) : mix(i);
}

}  // namespace

std::vector<std::int32_t> prompt_of(std::uint64_t key, std::size_t prompt_tokens) {
  std::vector<std::int32_t> prompt;
  for (std::size_t i = 0; i < std::max(prompt_tokens, kKeyTokens); ++i) {
    prompt.push_back(i < kKeyTokens ? static_cast<std::int32_t>(key >> (kBits * i) & ((1u << kBits) - 1))
                                    : static_cast<std::int32_t>(mix(i) % kVocabulary));
  }
  return prompt;
}

std::uint64_t key_of(std::span<const std::int32_t> prompt) {
  std::uint64_t key = 0;
  for (std::size_t i = 0; i < std::min(prompt.size(), kKeyTokens); ++i)
    key |= static_cast<std::uint64_t>(prompt[i]) << (kBits * i);
  return key;
}

std::int32_t token_at(std::uint64_t key, std::uint32_t choice, std::size_t i) {
  return static_cast<std::int32_t>(hash_at(key, choice, i) % kVocabulary);
}

float logprob_at(Body body, std::uint64_t key, std::uint32_t choice, std::size_t i) {
  const std::uint64_t hash = mix(hash_at(key, choice, i));
  switch (body) {  // 0 minus: there is no -0.0 in a body of vLLM
    case Body::minimal:
      return 0.0F - static_cast<float>(hash % 100) / 10;
    case Body::full:
      return 0.0F - static_cast<float>(hash >> 40) / (1 << 21);
  }
  __builtin_unreachable();
}

bool stops(std::uint64_t key, std::uint32_t choice) { return (key + choice) % 2 == 0; }

}  // namespace tinker::load
