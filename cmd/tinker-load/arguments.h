// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "base/error.h"
#include "tinker-load/load_run.h"
#include "tinker-load/router.h"

namespace tinker::load {

// The options of the commands, each declared once. Names with a second spelling have that of SkyRL's
// load_test_tinker_sampling.py too.

// What router and client must agree on.
void add_shape(CLI::App& command, std::size_t& output_tokens, Body& body);
// When the router answers.
void add_generation(CLI::App& command, RouterOptions& options);
// What is sampled, and by which client.
void add_sampling(CLI::App& command, RunOptions& options);

// The words of a command line that names no command but has options: --role all, load or vllm tells which command is meant,
// without it all is. Other command lines as they are. An Error for an unknown role.
base::Result<std::vector<std::string>> with_command(std::vector<std::string> words);

}  // namespace tinker::load
