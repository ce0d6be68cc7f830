// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tinker::loop {

// Raises the process's limit on open files to the hard limit, since each connection is one; returns the limit that holds then.
std::size_t raise_open_files();

// Gives the calling thread a file table of its own: the limit on open files then holds for it alone, and its descriptors exist
// for no other thread, as those that others open from now on do not exist for it. False when the kernel refuses, as a
// container's seccomp profile may; the thread then shares the process's table.
bool take_own_file_table();

}  // namespace tinker::loop
