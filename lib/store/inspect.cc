// SPDX-License-Identifier: Apache-2.0
#include "store/inspect.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "store/busy_wait.h"
#include "store/sqlite.h"
#include "store/text_forms.h"

namespace tinker::store {
namespace {

using base::Code;
using base::Result;

constexpr base::Seconds kPatience{2};
constexpr int kAttempts = 3;

std::uint64_t size_of(const std::string& path) {
  std::error_code absent;
  const auto bytes = std::filesystem::file_size(path, absent);
  return absent ? 0 : bytes;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// What `look` sees in one read transaction. `note` says what it cannot see.
template <class View, class Look>
Result<View> look_with(const std::string& path, Access access, Look& look, const std::string& note) {
  BusyWait busy(kPatience);
  auto db = Connection::open(path, access, busy);
  if (!db) return tl::unexpected(std::move(db.error()));
  if (auto begun = (*db)->execute("BEGIN"); !begun) return tl::unexpected(std::move(begun.error()));
  return look(**db, note);
}

// Looks at a file that others may have open, without leaving a trace.
//
// A database in WAL mode needs its -wal and -shm files even for reading, and SQLite would create them, owned by whoever looks;
// the daemon could then not open them. So a file without a log, which nobody has open, is read as immutable, and looked at
// again if somebody opened it meanwhile. A log without -shm is what a crash and a copy leave: where the folder cannot be
// written to, the state before the log is shown, with a note.
template <class View, class Look>
Result<View> look_at(const std::string& path, Look look) {
  const std::string wal = path + "-wal";
  for (int attempt = 1;; ++attempt) {
    if (exists(wal)) {
      auto view = look_with<View>(path, Access::read_only, look, {});
      if (view || exists(path + "-shm") || !exists(wal)) return view;
      return look_with<View>(path, Access::immutable, look,
                             "the write-ahead log of " + std::to_string(size_of(wal)) +
                                 " bytes could not be read, so what is shown is the state before it (" + view.error().text +
                                 ")");
    }
    auto view = look_with<View>(path, Access::immutable, look, {});
    if (!exists(wal) || attempt == kAttempts) return view;
  }
}

// The text of a pragma or a count.
Result<std::string> scalar(Connection& db, const std::string& sql) {
  auto rows = db.query(sql);
  if (!rows) return tl::unexpected(std::move(rows.error()));
  auto row = rows->next();
  if (!row) return tl::unexpected(std::move(row.error()));
  return *row ? rows->text(0) : std::string{};
}

Result<std::vector<TableSize>> table_sizes(Connection& db) {
  std::vector<TableSize> tables;
  {
    auto rows = db.query(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name");
    if (!rows) return tl::unexpected(std::move(rows.error()));
    for (;;) {
      auto row = rows->next();
      if (!row) return tl::unexpected(std::move(row.error()));
      if (!*row) break;
      tables.push_back({.name = rows->text(0)});
    }
  }
  for (TableSize& table : tables) {
    std::string quoted = "\"";
    for (const char c : table.name) quoted.append(c == '"' ? 2 : 1, c);
    auto count = scalar(db, "SELECT count(*) FROM " + quoted + "\"");
    if (!count) return tl::unexpected(std::move(count.error()));
    table.rows = std::stoll(*count);
  }
  return tables;
}

bool has_table(const std::vector<TableSize>& tables, std::string_view name) {
  return std::any_of(tables.begin(), tables.end(), [&](const TableSize& table) { return table.name == name; });
}

Result<void> read_engine_state(Connection& db, StoreView& view) {
  auto rows = db.query("SELECT inference_proxy_url, updated_at FROM engine_state WHERE singleton_id = 1");
  if (!rows) return tl::unexpected(std::move(rows.error()));
  auto row = rows->next();
  if (!row) return tl::unexpected(std::move(row.error()));
  if (!*row) return {};
  view.upstream_url = rows->text_or_null(0);
  view.upstream_updated_at = rows->text_or_null(1);
  return {};
}

Result<StoreView> store_view(Connection& db, const std::string& note) {
  StoreView view{.path = db.path(),
                 .file_bytes = size_of(db.path()),
                 .wal_bytes = size_of(db.path() + "-wal"),
                 .journal_mode = db.in_wal_mode() ? "wal" : "rollback",
                 .note = note};
  const std::pair<const char*, std::int64_t*> numbers[] = {
      {"PRAGMA page_size", &view.page_bytes}, {"PRAGMA page_count", &view.pages}, {"PRAGMA freelist_count", &view.free_pages}};
  for (const auto& [pragma, number] : numbers) {
    auto text = scalar(db, pragma);
    if (!text) return tl::unexpected(std::move(text.error()));
    *number = std::stoll(*text);
  }
  auto tables = table_sizes(db);
  if (!tables) return tl::unexpected(std::move(tables.error()));
  view.tables = std::move(*tables);
  if (has_table(view.tables, "engine_state"))
    if (auto read = read_engine_state(db, view); !read) return tl::unexpected(std::move(read.error()));
  return view;
}

Result<SessionList> session_list(Connection& db, const std::string& note, base::Wall now, std::size_t limit) {
  auto tables =
      scalar(db, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('sessions', 'sampling_sessions')");
  if (!tables) return tl::unexpected(std::move(tables.error()));
  if (*tables != "2") return base::fail(Code::not_found, db.path() + " has no table of sessions: no server has used it yet");

  SessionList list{.note = note};
  auto rows = db.query(
      "SELECT session_id, status, sdk_version, created_at, last_heartbeat_at, heartbeat_count, (SELECT count(*) FROM "
      "sampling_sessions s WHERE s.session_id = sessions.session_id) FROM sessions ORDER BY created_at DESC, session_id LIMIT "
      "?",
      limit);
  if (!rows) return tl::unexpected(std::move(rows.error()));
  for (;;) {
    auto row = rows->next();
    if (!row) return tl::unexpected(std::move(row.error()));
    if (!*row) return list;
    SessionView& session = list.sessions.emplace_back(SessionView{.id = rows->text(0),
                                                                  .status = rows->text(1),
                                                                  .sdk_version = rows->text(2),
                                                                  .created_at = rows->text(3),
                                                                  .last_heartbeat_at = rows->text_or_null(4),
                                                                  .heartbeats = rows->integer(5),
                                                                  .sampling_sessions = rows->integer(6)});
    if (!session.last_heartbeat_at) continue;
    if (const auto heartbeat = parse_datetime(*session.last_heartbeat_at)) session.heartbeat_age = now - *heartbeat;
  }
}

}  // namespace

Result<StoreView> inspect_store(const std::string& path) { return look_at<StoreView>(path, store_view); }

Result<SessionList> inspect_sessions(const std::string& path, base::Wall now, std::size_t limit) {
  return look_at<SessionList>(path,
                              [&](Connection& db, const std::string& note) { return session_list(db, note, now, limit); });
}

}  // namespace tinker::store
