// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/totals.h"

#include <algorithm>
#include <cctype>

namespace tinker::load {
namespace {

bool same_kind(std::string_view a, std::string_view b) {
  const auto without_digits = [](std::string_view text) {
    std::string rest;
    std::ranges::copy_if(text, std::back_inserter(rest), [](unsigned char c) { return std::isdigit(c) == 0; });
    return rest;
  };
  return without_digits(a) == without_digits(b);
}

}  // namespace

void Troubles::add(std::string_view text, std::uint64_t times) {
  if (text.empty()) return;
  for (Trouble& known : all_) {
    if (!same_kind(known.text, text)) continue;
    known.times += times;
    return;
  }
  if (all_.size() < kMost) all_.push_back({std::string(text), times});
}

void LoadTotals::merge(const LoadTotals& other) {
  for (const CountRow& row : kCounts) counts.*row.member += other.counts.*row.member;
  submit_times.merge(other.submit_times);
  sample_times.merge(other.sample_times);
  for (const Troubles::Trouble& trouble : other.troubles.all()) troubles.add(trouble.text, trouble.times);
  if (other.began_sec == 0) return;
  began_sec = began_sec == 0 ? other.began_sec : std::min(began_sec, other.began_sec);
  ended_sec = std::max(ended_sec, other.ended_sec);
}

}  // namespace tinker::load
