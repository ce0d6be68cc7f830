// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tinker::store {

// The absolute path of the SQLite file that a --database-url names: `sqlite:///relative` (to the working directory) or
// `sqlite:////absolute`, as the peer reads it (server-contract.md §2.1), so that its engine opens the same file.
//
// Errors (invalid_argument): another scheme, among them postgresql, which this build does not serve; a host, a `?query`, a
// database in memory, percent-encoding. The peer does not decode a path: neither do we, and `%41` is refused so that nobody
// takes it for `A`. Never repeats more of the URL than its scheme, for it may hold a password.
base::Result<std::string> database_path(std::string_view url);

}  // namespace tinker::store
