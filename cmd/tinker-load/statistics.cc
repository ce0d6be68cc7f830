// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/statistics.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

namespace tinker::load {

double Samples::percentile_sec(double part) const {
  if (seconds_.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(seconds_.size())));
  const auto at = seconds_.begin() + static_cast<std::ptrdiff_t>(rank == 0 ? 0 : rank - 1);
  std::nth_element(seconds_.begin(), at, seconds_.end());
  return *at;
}

std::optional<ProcessUse> use_of(int pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::string line;
  if (!std::getline(std::ifstream(folder + "/stat"), line)) return std::nullopt;
  // Behind the command's name in brackets, which may hold anything: state is field 3, utime and stime are 14 and 15 (proc(5)).
  std::istringstream fields(line.substr(line.rfind(')') + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  ProcessUse use{.cpu_sec = (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK))};
  std::ifstream status(folder + "/status");
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) use.peak_rss_bytes = std::stoll(line.substr(6)) * 1024;
  }
  return use;
}

}  // namespace tinker::load
