// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tinker::codec {

// An asample body whose long lists of prompt tokens were read ahead, so that no tree of numbers is built of them: 32,768 tokens
// cost a third of what they cost in a tree (tests/bench/codec_bench.cc).
struct PromptAside {
  std::string rest;  // the body, with [] in the place of each list that was read
  // A chunk each: its tokens, or nullopt when its list, if it has one, is still in `rest`.
  std::vector<std::optional<std::vector<std::int32_t>>> tokens;
};

// nullopt when the body is not the JSON that it should be, so that whoever parses it whole can say what is wrong. A list that
// holds anything but integers within int32 of at least 0 stays where it is. Of keys that stand twice the last counts.
std::optional<PromptAside> set_prompt_aside(std::string_view body);

}  // namespace tinker::codec
