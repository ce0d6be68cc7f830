// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>

#include "base/bytes.h"
#include "base/error.h"
#include "base/ids.h"

namespace tinker::api {

// The old clients' JSON of recent results, derived once for each however often it is fetched; the least recently used go first.
//
// Owned by  a worker's Retrieval.
// Thread    its loop's.
class JsonCache {
 public:
  explicit JsonCache(std::size_t bytes) : bytes_(bytes) {}

  // The JSON of `sample_response`, which is the result of `id`. Errors: those of codec::sample_json.
  base::Result<base::SharedBytes> of(base::SampleId id, const base::SharedBytes& sample_response);

 private:
  struct Entry {
    base::SampleId id;
    base::SharedBytes json;
  };
  const std::size_t bytes_;
  std::size_t held_ = 0;
  std::list<Entry> recent_;  // first: used last
  std::unordered_map<base::SampleId, std::list<Entry>::iterator> by_id_;
};

}  // namespace tinker::api
