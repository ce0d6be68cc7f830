// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "base/clock.h"

namespace tinker::forward {

// Read when used, so live settings may stand behind it.
struct ForwardLimits {
  std::size_t max_connections = 2048;  // forwarding_inference_max_connections; this loop's share
  base::Seconds connect{60};
  base::Seconds read{2048};        // forwarding_inference_timeout_sec, between bytes
  base::Seconds idle{2};           // an idle connection is closed before vLLM closes it after 5 s (cases.md U5)
  base::Seconds retry_pause{0.5};  // before a request is sent again; jittered by half
};

}  // namespace tinker::forward
