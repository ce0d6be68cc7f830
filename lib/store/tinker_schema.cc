// SPDX-License-Identifier: Apache-2.0
#include "store/tinker_schema.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace tinker::store {
namespace {

using base::Code;
using base::Result;

struct Table {
  const char* name;
  const char* sql;  // the table and its indexes
};

// The peer's tables in its order of creation. No column has a default: whoever writes a row gives every NOT NULL column.
constexpr Table kTables[] = {
    {"futures", R"sql(
CREATE TABLE futures (
  request_id INTEGER NOT NULL,
  request_type VARCHAR(24) NOT NULL,
  model_id VARCHAR,
  seq_id INTEGER,
  request_data JSON NOT NULL,
  result_data TEXT,
  status VARCHAR(9) NOT NULL,
  created_at DATETIME NOT NULL,
  completed_at DATETIME,
  PRIMARY KEY (request_id),
  CONSTRAINT uq_futures_model_id_seq_id UNIQUE (model_id, seq_id)
);
CREATE INDEX ix_futures_model_id ON futures (model_id);
CREATE INDEX ix_futures_status ON futures (status))sql"},
    {"sessions", R"sql(
CREATE TABLE sessions (
  session_id VARCHAR NOT NULL,
  tags JSON NOT NULL,
  user_metadata JSON NOT NULL,
  sdk_version VARCHAR NOT NULL,
  status VARCHAR NOT NULL,
  created_at DATETIME NOT NULL,
  last_heartbeat_at DATETIME,
  heartbeat_count INTEGER NOT NULL,
  PRIMARY KEY (session_id)
);
CREATE INDEX ix_sessions_last_heartbeat_at ON sessions (last_heartbeat_at);
CREATE INDEX ix_sessions_status ON sessions (status))sql"},
    {"engine_state", R"sql(
CREATE TABLE engine_state (
  singleton_id INTEGER NOT NULL,
  inference_proxy_url VARCHAR,
  updated_at DATETIME NOT NULL,
  PRIMARY KEY (singleton_id)
))sql"},
    {"profiler_control", R"sql(
CREATE TABLE profiler_control (
  singleton_id INTEGER NOT NULL,
  desired_state VARCHAR(7) NOT NULL,
  owner_model_id VARCHAR,
  config_json TEXT,
  version INTEGER NOT NULL,
  applied_version INTEGER NOT NULL,
  started_at DATETIME,
  step INTEGER NOT NULL,
  error TEXT,
  PRIMARY KEY (singleton_id)
))sql"},
    {"models", R"sql(
CREATE TABLE models (
  model_id VARCHAR NOT NULL,
  base_model VARCHAR NOT NULL,
  lora_config JSON NOT NULL,
  status VARCHAR NOT NULL,
  request_id INTEGER NOT NULL,
  session_id VARCHAR NOT NULL,
  created_at DATETIME NOT NULL,
  PRIMARY KEY (model_id),
  FOREIGN KEY(session_id) REFERENCES sessions (session_id)
);
CREATE INDEX ix_models_status ON models (status);
CREATE INDEX ix_models_session_id ON models (session_id))sql"},
    {"sampling_sessions", R"sql(
CREATE TABLE sampling_sessions (
  sampling_session_id VARCHAR NOT NULL,
  session_id VARCHAR NOT NULL,
  sampling_session_seq_id INTEGER NOT NULL,
  base_model VARCHAR,
  model_path VARCHAR,
  created_at DATETIME NOT NULL,
  PRIMARY KEY (sampling_session_id),
  FOREIGN KEY(session_id) REFERENCES sessions (session_id)
);
CREATE INDEX ix_sampling_sessions_session_id ON sampling_sessions (session_id))sql"},
    {"checkpoints", R"sql(
CREATE TABLE checkpoints (
  model_id VARCHAR NOT NULL,
  checkpoint_id VARCHAR NOT NULL,
  checkpoint_type VARCHAR(8) NOT NULL,
  status VARCHAR(9) NOT NULL,
  created_at DATETIME NOT NULL,
  completed_at DATETIME,
  error_message VARCHAR,
  PRIMARY KEY (model_id, checkpoint_id, checkpoint_type),
  FOREIGN KEY(model_id) REFERENCES models (model_id)
))sql"},
};

struct Column {
  bool required = false;  // NOT NULL
  bool defaulted = false;
};
using Columns = std::map<std::string, Column>;

Result<Columns> columns_of(Connection& db, std::string_view table) {
  auto rows = db.query("SELECT name, \"notnull\", dflt_value IS NOT NULL FROM pragma_table_info(?)", table);
  if (!rows) return tl::unexpected(rows.error());
  Columns columns;
  for (;;) {
    auto row = rows->next();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return columns;
    columns[rows->text(0)] = {rows->integer(1) != 0, rows->integer(2) != 0};
  }
}

// What the tables of kTables have, as SQLite itself reads their text.
Result<std::map<std::string, Columns>> expected_columns() {
  BusyWait busy(base::Seconds{0});
  auto db = Connection::open(":memory:", Access::read_write_create, busy);
  if (!db) return tl::unexpected(db.error());
  std::map<std::string, Columns> expected;
  for (const Table& table : kTables) {
    if (auto made = (*db)->execute(table.sql); !made) return tl::unexpected(made.error());
    auto columns = columns_of(**db, table.name);
    if (!columns) return tl::unexpected(columns.error());
    expected[table.name] = std::move(*columns);
  }
  return expected;
}

Result<std::set<std::string>> tables_of(Connection& db) {
  auto rows =
      db.query("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
  if (!rows) return tl::unexpected(rows.error());
  std::set<std::string> tables;
  for (;;) {
    auto row = rows->next();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return tables;
    tables.insert(rows->text(0));
  }
}

tl::unexpected<base::Error> refused(const Connection& db, const std::string& why, const std::string& remedy) {
  return base::fail(Code::invalid_argument, db.path() + " cannot be used: " + why + "; nothing was changed (" + remedy + ")");
}

Result<void> check_table(Connection& db, const std::string& name, const Columns& expected) {
  auto found = columns_of(db, name);
  if (!found) return tl::unexpected(found.error());
  for (const auto& [column, unused] : expected)
    if (!found->contains(column))
      return refused(
          db, "its table " + name + " lacks the column " + column + ", so an older or another release of the server made it",
          "move the file away, or name another one with --database-url; the engine has to use the same");
  for (const auto& [column, is] : *found)
    if (!expected.contains(column) && is.required && !is.defaulted)
      return refused(
          db, "its table " + name + " requires a value for the column " + column + ", which this release does not know",
          "a newer server made the file: install the tinkerd that goes with it, or name another file with --database-url");
  return {};
}

// The tables that are there are the peer's, of this release.
Result<std::set<std::string>> check_tables(Connection& db) {
  auto present = tables_of(db);
  if (!present) return present;
  const bool any_of_ours =
      std::any_of(std::begin(kTables), std::end(kTables), [&](const Table& table) { return present->contains(table.name); });
  // An empty alembic_version is what a migration by hand leaves in a file without tables.
  const auto foreign =
      std::find_if(present->begin(), present->end(), [](const std::string& name) { return name != "alembic_version"; });
  if (!any_of_ours && foreign != present->end())
    return refused(db, "it holds the table " + *foreign + " and none of the Tinker API's, so it belongs to another program",
                   "name another file with --database-url");

  auto expected = expected_columns();
  if (!expected) return tl::unexpected(expected.error());
  for (const auto& [name, columns] : *expected)
    if (present->contains(name))
      if (auto checked = check_table(db, name, columns); !checked) return tl::unexpected(checked.error());
  return present;
}

Result<bool> profiler_row_present(Connection& db) {
  auto rows = db.query("SELECT 1 FROM profiler_control WHERE singleton_id = 1");
  if (!rows) return tl::unexpected(rows.error());
  return rows->next();
}

Result<void> set_wal(Connection& db) {
  auto rows = db.query("PRAGMA journal_mode=WAL");
  if (!rows) return tl::unexpected(rows.error());
  auto row = rows->next();
  if (!row) return tl::unexpected(row.error());
  if (const std::string mode = rows->text(0); mode != "wal")
    return base::fail(Code::unavailable, db.path() + " cannot be used: its journal mode is " + mode +
                                             " and cannot be made WAL (a file system without shared memory, such as NFS? "
                                             "put it on a local disk)");
  return {};
}

// SQLite refuses at once, without its busy handler, when two change the mode of a new file at the same moment.
Result<void> use_wal(Connection& db) {
  BusyWait& busy = db.busy();
  busy.wait_until(busy.deadline(BusyWait::Time::clock::now()));
  for (int attempt = 0;; ++attempt) {
    auto set = set_wal(db);
    if (set || !db.locked_out() || !busy.pause(attempt)) return set;
  }
}

// In a transaction: what is absent, looked at again under the lock, for another process may have been quicker.
Result<void> create_absent(Connection& db) {
  auto present = tables_of(db);
  if (!present) return tl::unexpected(present.error());
  for (const Table& table : kTables)
    if (!present->contains(table.name))
      if (auto made = db.execute(table.sql); !made) return made;
  return db.execute(
      "INSERT OR IGNORE INTO profiler_control (singleton_id, desired_state, owner_model_id, config_json, version, "
      "applied_version, started_at, step, error) VALUES (1, 'STOPPED', NULL, NULL, 0, 0, NULL, 0, NULL)");
}

}  // namespace

Result<void> prepare_tinker_schema(Connection& db) {
  auto present = check_tables(db);
  if (!present) return tl::unexpected(present.error());
  if (auto wal = use_wal(db); !wal) return wal;
  // What the peer's connections have; the defaults of a build may differ.
  if (auto set = db.execute("PRAGMA synchronous=FULL; PRAGMA foreign_keys=OFF"); !set) return set;

  const bool complete =
      std::all_of(std::begin(kTables), std::end(kTables), [&](const Table& table) { return present->contains(table.name); });
  if (complete) {
    // A file that is whole is opened without its write lock: the engine may hold that for seconds.
    auto row = profiler_row_present(db);
    if (!row) return tl::unexpected(row.error());
    if (*row) return {};
  }
  if (auto begun = db.execute("BEGIN IMMEDIATE"); !begun) return begun;
  if (auto made = create_absent(db); !made) {
    if (db.in_transaction()) (void)db.execute("ROLLBACK");
    return made;
  }
  return db.execute("COMMIT");
}

}  // namespace tinker::store
