// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tinker::base {

// The id of a sample's future. Its text is 's' and the decimal number; to clients it is opaque (design.md §4).
struct SampleId {
  std::int64_t number = 0;

  auto operator<=>(const SampleId&) const = default;

  // "s" + decimal, e.g. "s4711".
  std::string text() const;
  // Strict: exactly what text() writes. No sign, space, leading zero or Unicode digit (cases.md C3). nullopt otherwise.
  static std::optional<SampleId> parse(std::string_view text);
};

// "<id>-<n>", n from 0: the sample_sequence_ids that SDK 0.26 and later require (wire.md §3.2).
std::string sequence_id(SampleId id, std::uint32_t n);

// Text ids are types of their own, so that one cannot be handed in for another.
template <class Tag>
struct TextId {
  std::string text;
  auto operator<=>(const TextId&) const = default;
  bool empty() const { return text.empty(); }
};
using SessionId = TextId<struct SessionTag>;
using SamplingSessionId = TextId<struct SamplingSessionTag>;
using TenantId = TextId<struct TenantTag>;

// `prefix` followed by 16 lower-case hex digits from the kernel's random source: session_…, sampling_….
std::string random_id(std::string_view prefix);

}  // namespace tinker::base

template <>
struct std::hash<tinker::base::SampleId> {
  std::size_t operator()(tinker::base::SampleId id) const noexcept {
    std::uint64_t x = static_cast<std::uint64_t>(id.number) * 0x9E3779B97F4A7C15ull;
    return static_cast<std::size_t>(x ^ (x >> 32));
  }
};
template <class Tag>
struct std::hash<tinker::base::TextId<Tag>> {
  std::size_t operator()(const tinker::base::TextId<Tag>& id) const noexcept { return std::hash<std::string>{}(id.text); }
};
