// SPDX-License-Identifier: Apache-2.0
#include "api/json_cache.h"

#include <utility>

#include "codec/sample_json.h"

namespace tinker::api {

base::Result<base::SharedBytes> JsonCache::of(base::SampleId id, const base::SharedBytes& sample_response) {
  if (const auto found = by_id_.find(id); found != by_id_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->json;
  }
  base::Result<std::string> json = codec::sample_json(sample_response.view());
  if (!json) return tl::unexpected(json.error());
  recent_.push_front({id, base::SharedBytes(std::move(*json))});
  by_id_[id] = recent_.begin();
  held_ += recent_.front().json.size();
  while (held_ > bytes_ && recent_.size() > 1) {
    held_ -= recent_.back().json.size();
    by_id_.erase(recent_.back().id);
    recent_.pop_back();
  }
  return recent_.front().json;
}

}  // namespace tinker::api
