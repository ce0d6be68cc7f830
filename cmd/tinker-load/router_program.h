// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "tinker-load/router.h"

namespace tinker::load {

// Serves as a vLLM router until SIGINT or SIGTERM, after a line "listening on URL"; returns what it counted.
base::Result<RouterCounts> run_router(const RouterOptions& options);

}  // namespace tinker::load
