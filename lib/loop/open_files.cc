// SPDX-License-Identifier: Apache-2.0
#include "loop/open_files.h"

#include <sched.h>
#include <sys/resource.h>

namespace tinker::loop {

std::size_t raise_open_files() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

bool take_own_file_table() { return unshare(CLONE_FILES) == 0; }

}  // namespace tinker::loop
