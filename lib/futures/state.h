// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tinker::futures {

// Where an accepted sample stands (design.md §4). What was evicted has no state: it is not here.
enum class State : std::uint8_t {
  queued,     // waits for its turn upstream
  in_flight,  // sent upstream, no answer yet
  completed,  // has its result, nobody has read it
  failed,     // has its failure, nobody has read it
  delivered,  // the last byte of its result or failure left a live connection
  confirmed,  // and that client was seen to have read it
};
inline constexpr std::size_t kStates = 6;

// What may happen to a sample.
enum class Event : std::uint8_t { start, requeue, complete, fail, deliver, confirm };

// The state after `event`; nullopt when the event means nothing in `state` and changes nothing. This is the whole machine: a
// second outcome, a delivery of what has not ended, a confirmation of what was not delivered all come to nullopt.
std::optional<State> after(State state, Event event);

// Queued or in flight: the upstream still owes an outcome, and no clock runs.
bool is_live(State state);

// "queued", "in_flight", … as the operator reads and types it; state_named() is the way back.
std::string_view text(State state);
std::optional<State> state_named(std::string_view text);

}  // namespace tinker::futures
