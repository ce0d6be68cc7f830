// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tinker::load {

// What a process and all below it have used, from /proc. CPU time of children that have ended is their parent's; memory is the
// sum of the peaks of those that run.
struct ProcessUse {
  double cpu_sec = 0;  // user and system
  std::int64_t peak_rss_bytes = 0;
};
// nullopt when there is no such process.
std::optional<ProcessUse> use_of_tree(int pid);

// Whether it is there and has not ended. A process that its parent has not waited for yet has ended.
bool runs(int pid);

// A line of /proc/PID/stat (proc(5)).
struct ProcessStat {
  char state = 0;  // 'Z': it has ended
  int parent = 0;
  double cpu_ticks = 0;  // with the children that were waited for
};
std::optional<ProcessStat> read_stat(std::string_view line);

}  // namespace tinker::load
