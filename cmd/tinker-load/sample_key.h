// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tinker::load {

// What the client puts into a prompt and expects in its result, and the router makes out of a prompt: so a result that belongs
// to another request is noticed.
//
// The first four tokens of a prompt are the request's key. The first kChecked tokens and logprobs of each choice depend on it;
// the others are the same in all results.
inline constexpr std::size_t kKeyTokens = 4;
inline constexpr std::size_t kChecked = 16;
inline constexpr std::uint32_t kVocabulary = 128256;

// How a body is written (vectors/vllm/README.md §1).
enum class Body {
  minimal,  // what a forwarder needs: 11 bytes a token
  full,     // as vLLM 0.32 writes it: about 80 bytes a token
};

// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators").
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// 15 bits a token: below any vocabulary's size.
std::vector<std::int32_t> prompt_of(std::uint64_t key, std::size_t prompt_tokens);
std::uint64_t key_of(std::span<const std::int32_t> prompt);

// Token and logprob at position `i` of a choice. From kChecked on, key and choice do not matter.
std::int32_t token_at(std::uint64_t key, std::uint32_t choice, std::size_t i);
// In minimal bodies a short decimal, in full ones any float, which JSON shows with some 17 digits.
float logprob_at(Body body, std::uint64_t key, std::uint32_t choice, std::size_t i);
// finish_reason: "stop", or else "length".
bool stops(std::uint64_t key, std::uint32_t choice);

}  // namespace tinker::load
