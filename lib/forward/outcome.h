// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "codec/completion.h"

namespace tinker::forward {

// Whose error it is, as the client will read it (wire.md §5.2).
enum class Blame { user, server };

struct Failure {
  Blame blame = Blame::server;
  std::string text;  // valid UTF-8; bounded: at most 1 KB of the upstream's words
};

// How a job ends.
using Outcome = tl::expected<codec::Completion, Failure>;

}  // namespace tinker::forward
