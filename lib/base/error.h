// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace tinker::base {

// What went wrong, for programs. Two switches without `default` turn it into an HTTP status (api/error_reply) and into an exit
// code (tinkerctl).
enum class Code {
  invalid_argument,    // 400: understood and refused
  unprocessable,       // 422: fields missing or of the wrong type; Error::faults says which
  permission_denied,   // 403
  not_found,           // 404
  method_not_allowed,  // 405
  timed_out,           // 408
  conflict,            // 409; the SDK repeats it for five minutes (wire.md §2), so only for what will clear
  gone,                // 410
  too_large,           // 413
  unsupported_media,   // 415
  too_early,           // 425: the checkpoint is still being made
  exhausted,           // 429: no room now; try again
  internal,            // 500: a fault of ours
  unavailable,         // 503: something we depend on is away
};

// One entry of the `detail` list of a 422 (server-contract.md §1.1). `loc`, `input` and `ctx` are JSON text; `ctx` may be
// empty.
struct Fault {
  std::string type;   // e.g. "missing"
  std::string loc;    // e.g. ["body","sampling_params","top_p"]
  std::string msg;    // e.g. "Field required"
  std::string input;  // what was given
  std::string ctx;
};

// A code for programs and a text for people, which says what, where and what to do. Each level adds only what it alone knows.
struct Error {
  Code code = Code::internal;
  std::string text;
  std::vector<Fault> faults = {};
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Code code, std::string text) { return tl::unexpected<Error>(Error{code, std::move(text)}); }

// The same error, with what the caller knows put before it: "context: text".
inline Error within(std::string_view context, Error error) {
  error.text.insert(0, std::string(context) + ": ");
  return error;
}

}  // namespace tinker::base
