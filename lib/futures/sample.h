// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "base/ids.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tinker::futures {

// A sample that asks to be admitted.
struct Submission {
  base::TenantId tenant;
  base::SessionId session;                   // of the training run; may be empty
  base::SamplingSessionId sampling_session;  // may be empty: then there is no dedup
  std::optional<std::int64_t> seq_id;        // may be absent: then there is no dedup
  // Of the request's meaning; equal for a re-send. It is only ever compared between two requests under one key (tenant,
  // sampling session, seq_id), never looked up, so there is no birthday bound: a client that errs by using a seq_id twice is
  // handed the earlier result once in 2^64 times. Hence 64 bits, and a tenant can at worst fool itself.
  std::uint64_t content_hash = 0;
  std::string model;  // as the upstream names it
  std::uint32_t num_samples = 1;
  base::SharedBytes request;  // the upstream's body; let go when the sample ends
};

// Why a sample failed, as the client reads it (wire.md §5.2).
enum class Category : std::uint8_t { user, server, unknown };
std::string_view text(Category category);  // as the wire has it: "user", "server", "unknown"

struct Failure {
  Category category = Category::unknown;
  std::string text;
};

// A poll, on which worker. Numbers of a worker are not used twice.
struct WaiterId {
  std::uint32_t worker = 0;
  std::uint64_t number = 0;
  auto operator<=>(const WaiterId&) const = default;
};

}  // namespace tinker::futures
