// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tinker::loop {

// Raises the process's limit on open files to the hard limit, since each connection is one; returns the limit that holds then.
std::size_t raise_open_files();

}  // namespace tinker::loop
