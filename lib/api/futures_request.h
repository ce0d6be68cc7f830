// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/ids.h"
#include "futures/feed.h"

namespace tinker::api {

// The body of retrieve_futures (wire.md §5.6).
struct FuturesRequest {
  futures::FeedKey feed;
  std::int64_t prev_cursor = 0;
  std::optional<base::Seconds> timeout;  // absent: as long as the server holds polls
  std::vector<base::SampleId> retrieved;
};

// Errors: unprocessable, with the fields named. An id in retrieved_request_ids that no asample gave is passed over.
base::Result<FuturesRequest> parse_futures_request(std::string_view body);

}  // namespace tinker::api
