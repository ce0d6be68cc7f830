// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.h"
#include "store/sqlite.h"

namespace tinker::store {

// Makes a database the peer's, or finds that it is (server-contract.md §2.1, §2.2; skyrl-schema.sql Part 1).
//
// Checks the tables that are there before anything is written; then sets WAL, creates the tables that are absent with their
// indexes, and row 1 of profiler_control. A database that is complete is not written to. `db` is open for writing.
// Errors: invalid_argument for a file of another program or release, naming table and column and what to do; those of
// Connection.
base::Result<void> prepare_tinker_schema(Connection& db);

}  // namespace tinker::store
