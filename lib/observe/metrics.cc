// SPDX-License-Identifier: Apache-2.0
#include "observe/metrics.h"

#include <algorithm>
#include <cmath>

namespace tinker::observe {
namespace {

constexpr double kGrowth = 1.25;

}  // namespace

std::size_t Times::bucket_of(double us) {
  if (us <= 1) return 0;
  return std::min<std::size_t>(kBuckets - 1, static_cast<std::size_t>(std::ceil(std::log(us) / std::log(kGrowth))));
}

void Times::add(base::Seconds time) {
  const double us = std::max(0.0, time.count() * 1e6);
  buckets_[bucket_of(us)].fetch_add(1, std::memory_order_relaxed);
  total_us_.fetch_add(static_cast<std::uint64_t>(us), std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
}

double Times::mean_sec() const {
  const std::uint64_t times = count();
  return times == 0 ? 0 : static_cast<double>(total_us_.load(std::memory_order_relaxed)) / 1e6 / static_cast<double>(times);
}

double Times::percentile_sec(double part) const {
  std::array<std::uint64_t, kBuckets> now;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) total += now[i] = buckets_[i].load(std::memory_order_relaxed);
  if (total == 0) return 0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(part * static_cast<double>(total)));
  std::uint64_t seen = 0;
  std::size_t i = 0;
  while (i + 1 < kBuckets && (seen += now[i]) < wanted) ++i;
  // The middle of the bucket, on the scale on which the buckets are equal.
  return i == 0 ? 1e-6 : std::pow(kGrowth, static_cast<double>(i) - 0.5) * 1e-6;
}

}  // namespace tinker::observe
