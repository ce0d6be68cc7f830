// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tinker-load/histogram.h"

namespace tinker::load {

// What a client counts. kCounts names each for the report, the messages between processes, and the sum.
struct LoadCounts {
  std::uint64_t completed = 0;        // with the result that belongs to the request
  std::uint64_t failed = 0;           // with an error, or an answer that no client goes on after
  std::uint64_t wrong = 0;            // with another result, or with sample_sequence_ids that do not fit
  std::uint64_t repolls = 0;          // polls after the first
  std::uint64_t abandoned_polls = 0;  // polls that timed out
  std::uint64_t reconnects = 0;       // connections that broke under a request
  std::uint64_t throttled = 0;        // asample answered 429
  std::uint64_t no_sequence_ids = 0;  // asample answered without sample_sequence_ids, which SDKs need from 0.26 on
};
struct CountRow {
  const char* name;
  std::uint64_t LoadCounts::*member;
};
inline constexpr std::array kCounts{
    CountRow{"completed", &LoadCounts::completed},
    CountRow{"failed", &LoadCounts::failed},
    CountRow{"wrong", &LoadCounts::wrong},
    CountRow{"repolls", &LoadCounts::repolls},
    CountRow{"abandoned_polls", &LoadCounts::abandoned_polls},
    CountRow{"reconnects", &LoadCounts::reconnects},
    CountRow{"throttled", &LoadCounts::throttled},
    CountRow{"no_sequence_ids", &LoadCounts::no_sequence_ids},
};

// The first kinds of trouble in words, and how often each came. Texts that differ in their digits only are of one kind.
class Troubles {
 public:
  static constexpr std::size_t kMost = 5;
  struct Trouble {
    std::string text;
    std::uint64_t times = 0;
  };

  void add(std::string_view text, std::uint64_t times = 1);
  const std::vector<Trouble>& all() const { return all_; }

 private:
  std::vector<Trouble> all_;
};

// What a client, or several together, came to.
struct LoadTotals {
  LoadCounts counts;
  Histogram submit_times, sample_times;
  Troubles troubles;
  // From the first submit to the last result, on the monotonic clock, which all processes of a machine share. 0 before.
  double began_sec = 0, ended_sec = 0;

  std::uint64_t ended() const { return counts.completed + counts.failed + counts.wrong; }
  double seconds() const { return ended_sec - began_sec; }
  void merge(const LoadTotals& other);
};

// What a client process tells, a line of JSON each.
struct Message {
  std::optional<LoadTotals> totals;               // at its end
  std::string fatal;                              // why it could not sample at all
  std::uint64_t progress = 0;                     // samples that have ended
  std::optional<std::uint64_t> outstanding = {};  // with progress
};
std::string message_line(const Message& message);
base::Result<Message> read_message(std::string_view line);

}  // namespace tinker::load
