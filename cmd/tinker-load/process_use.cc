// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/process_use.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace tinker::load {
namespace {

std::int64_t peak_rss_bytes(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  return 0;
}

std::optional<ProcessStat> stat_of(const std::string& pid) {
  std::string line;
  if (!std::getline(std::ifstream("/proc/" + pid + "/stat"), line)) return std::nullopt;
  return read_stat(line);
}

std::map<int, ProcessStat> all_processes() {
  std::map<int, ProcessStat> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    int pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size()) continue;
    if (const auto stat = stat_of(name)) found.emplace(pid, *stat);
  }
  return found;
}

bool is_below(const std::map<int, ProcessStat>& processes, int pid, int top) {
  while (pid != top) {
    const auto process = processes.find(pid);
    if (process == processes.end()) return false;
    pid = process->second.parent;
  }
  return true;
}

}  // namespace

std::optional<ProcessStat> read_stat(std::string_view line) {
  // The command's name in brackets may hold anything. Behind it: state is field 3, ppid 4, utime to cstime 14 to 17.
  const std::size_t name_end = line.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  std::istringstream fields{std::string(line.substr(name_end + 2))};
  ProcessStat stat;
  fields >> stat.state >> stat.parent;
  std::string skipped;
  for (int i = 5; i < 14; ++i) fields >> skipped;
  for (int i = 14; i <= 17; ++i) {
    double ticks = 0;
    fields >> ticks;
    stat.cpu_ticks += ticks;
  }
  if (!fields) return std::nullopt;
  return stat;
}

std::optional<ProcessUse> use_of_tree(int pid) {
  const auto processes = all_processes();
  if (!processes.contains(pid)) return std::nullopt;
  ProcessUse use;
  for (const auto& [candidate, stat] : processes) {
    if (!is_below(processes, candidate, pid)) continue;
    use.cpu_sec += stat.cpu_ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
    use.peak_rss_bytes += peak_rss_bytes(candidate);
  }
  return use;
}

bool runs(int pid) {
  const auto stat = stat_of(std::to_string(pid));
  return stat && stat->state != 'Z';
}

}  // namespace tinker::load
