// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "tinker-load/client_process.h"
#include "tinker-load/load_run.h"

namespace tinker::load {

// Samples with the public Tinker SDK, in the environment of options.sdk_python, which has it installed.
base::Result<ClientProcess> run_sdk_client(const RunOptions& options);

}  // namespace tinker::load
