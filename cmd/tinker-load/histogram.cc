// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tinker::load {
namespace {

// Eight significant bits of a time tell its bucket. Below 256 us each has its own; above, each doubling has 128.
constexpr int kBits = 8;
constexpr std::size_t kHalf = std::size_t{1} << (kBits - 1);

std::size_t bucket_of(std::uint64_t us) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(us)) - kBits);
  return static_cast<std::size_t>(shift) * kHalf + static_cast<std::size_t>(us >> shift);
}

// The middle of a bucket.
std::uint64_t time_of(std::size_t bucket) {
  if (bucket < 2 * kHalf) return bucket;
  const std::size_t shift = bucket / kHalf - 1;
  return (static_cast<std::uint64_t>(bucket - shift * kHalf) << shift) + (std::uint64_t{1} << shift) / 2;
}

}  // namespace

void Histogram::add(base::Seconds time) { add(static_cast<std::uint64_t>(std::max(0.0, time.count() * 1e6)), 1); }

void Histogram::add(std::uint64_t us, std::uint64_t times) {
  const std::size_t bucket = bucket_of(us);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  buckets_[bucket] += times;
  count_ += times;
}

void Histogram::merge(const Histogram& other) {
  other.each([this](std::uint64_t us, std::uint64_t times) { add(us, times); });
}

double Histogram::percentile_sec(double part) const {
  const auto rank = static_cast<std::uint64_t>(std::max(1.0, std::ceil(part * static_cast<double>(count_))));
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return static_cast<double>(time_of(bucket)) * 1e-6;
  }
  return 0;
}

void Histogram::each(const std::function<void(std::uint64_t, std::uint64_t)>& visit) const {
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    if (buckets_[bucket] > 0) visit(time_of(bucket), buckets_[bucket]);
  }
}

}  // namespace tinker::load
