// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "futures/numbers.h"
#include "futures/stripe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <type_traits>
#include <vector>

namespace tinker::futures {

inline constexpr std::size_t kBucketsAtOnce = 128;

// What `pick` gives for each entry of `stripes` [kStripes] where it gives something: `pick` takes a const Entry& and returns an
// optional. For operators, while samples come and go: an entry that is here all the while is picked exactly once.
//
// Goes through a few buckets of a stripe at a hold of its lock, then on to the next stripe: who waits for a lock gets it before
// this comes round again. A stripe whose buckets were laid out anew meanwhile is begun again. With 131,072 entries a hold is
// about 8 µs, a whole stripe would be 150 µs; with ten times as many it is still 8 µs.
template <class Pick>
auto pick_all(const Stripe* stripes, Pick pick) {
  using Picked = typename std::invoke_result_t<Pick, const Entry&>::value_type;
  struct Place {
    std::size_t next = 0;
    std::size_t buckets = 0;
    std::vector<Picked> picked;
  };
  std::array<Place, kStripes> places;

  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < kStripes; ++i) {
      Place& place = places[i];
      if (place.buckets > 0 && place.next == place.buckets) continue;
      const std::lock_guard lock(stripes[i].mutex);
      const Stripe::Entries& entries = stripes[i].entries;
      if (place.buckets != entries.bucket_count()) {
        place.next = 0;
        place.buckets = entries.bucket_count();
        place.picked.clear();
      }
      const std::size_t end = std::min(place.next + kBucketsAtOnce, place.buckets);
      for (; place.next < end; ++place.next) {
        for (auto it = entries.begin(place.next); it != entries.end(place.next); ++it) {
          if (auto picked = pick(it->second)) place.picked.push_back(*picked);
        }
      }
      more = more || place.next < place.buckets;
    }
  }

  std::vector<Picked> all;
  for (const Place& place : places) all.insert(all.end(), place.picked.begin(), place.picked.end());
  return all;
}

}  // namespace tinker::futures
