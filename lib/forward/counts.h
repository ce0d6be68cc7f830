// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace tinker::forward {

// What a forwarder has and did, for status and metrics.
struct ForwardCounts {
  std::size_t in_flight = 0;              // jobs now, those that pause before a second try included
  std::size_t connections = 0, idle = 0;  // open now, and how many of them unused
  std::uint64_t requests = 0;             // sent, second tries included
  std::uint64_t retries = 0;              // second tries after a connect failure or a 5xx
  std::uint64_t reconnects = 0;        // requests sent again because the upstream had closed an idle connection (cases.md U5)
  std::uint64_t aborts = 0;            // answers with finish_reason `abort` (U6)
  std::uint64_t failures = 0;          // jobs that ended as a Failure
  std::uint64_t logprobs_missing = 0;  // samples whose logprobs became zeros (U9)
  std::uint64_t bytes_out = 0, bytes_in = 0;  // heads and bodies sent; bodies received
};

}  // namespace tinker::forward
