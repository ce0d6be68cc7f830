// SPDX-License-Identifier: Apache-2.0
#include "store/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "unit/store/fixture.h"

namespace tinker::store {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kNoon = std::chrono::sys_days{std::chrono::year{2026} / 10 / 1} + 12h;

// A database as the peer leaves it, with the rows of skyrl-schema.sql.
std::string peer_database(const TemporaryFolder& folder) {
  const std::string path = folder.file("tinker.db");
  as_peer(path, "PRAGMA journal_mode=WAL;" + peer_sql(1) + peer_sql(3));
  return path;
}

std::set<std::string> names_in(const TemporaryFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.insert(entry.path().filename());
  return names;
}

std::int64_t rows_of(const StoreView& view, std::string_view table) {
  const auto found = std::find_if(view.tables.begin(), view.tables.end(), [&](const auto& t) { return t.name == table; });
  return found == view.tables.end() ? -1 : found->rows;
}

TEST(Inspect, ShowsWhatAFileHoldsAndLeavesNoTrace) {
  TemporaryFolder folder;
  const std::string path = peer_database(folder);
  const std::string bytes = read_file(path);

  const auto view = inspect_store(path);

  ASSERT_TRUE(view.has_value()) << view.error().text;
  EXPECT_EQ(view->path, path);
  EXPECT_EQ(view->file_bytes, bytes.size());
  EXPECT_EQ(view->wal_bytes, 0u);
  EXPECT_EQ(view->page_bytes * view->pages, static_cast<std::int64_t>(bytes.size()));
  EXPECT_EQ(view->free_pages, 0);
  EXPECT_EQ(view->journal_mode, "wal");
  EXPECT_EQ(view->tables.size(), 7u);
  EXPECT_EQ(rows_of(*view, "futures"), 13);
  EXPECT_EQ(rows_of(*view, "sessions"), 2);
  EXPECT_EQ(view->upstream_url, "http://127.0.0.1:8000");
  EXPECT_EQ(view->upstream_updated_at, "2026-10-01 12:00:06.000000");
  EXPECT_EQ(view->note, "");
  EXPECT_EQ(names_in(folder), std::set<std::string>{"tinker.db"});
  EXPECT_EQ(read_file(path), bytes);
}

TEST(Inspect, ListsSessionsWithTheAgeOfTheirHeartbeat) {
  TemporaryFolder folder;
  const std::string path = peer_database(folder);
  as_peer(path,
          "INSERT INTO sessions VALUES('session_3', '[]', '{}', '0.38.0', 'active', '2026-10-01 12:30:00.000000', 'soon', 1)");

  const auto list = inspect_sessions(path, kNoon + 60s, 10);

  ASSERT_TRUE(list.has_value()) << list.error().text;
  ASSERT_EQ(list->sessions.size(), 3u);
  EXPECT_EQ(list->sessions[0].id, "session_3") << "the latest comes first";
  EXPECT_EQ(list->sessions[0].heartbeat_age, std::nullopt) << "its text is no date";
  EXPECT_EQ(list->sessions[1].id, "session_00000001");
  EXPECT_EQ(list->sessions[1].status, "active");
  EXPECT_EQ(list->sessions[1].heartbeats, 2);
  EXPECT_EQ(list->sessions[1].sampling_sessions, 2);
  EXPECT_DOUBLE_EQ(list->sessions[1].heartbeat_age.value().count(), 49.5);
  EXPECT_EQ(list->sessions[2].status, "expired");
  EXPECT_EQ(list->sessions[2].last_heartbeat_at, std::nullopt);
}

TEST(Inspect, ListsNoMoreSessionsThanAskedFor) {
  TemporaryFolder folder;
  const std::string path = peer_database(folder);

  EXPECT_EQ(inspect_sessions(path, kNoon, 1)->sessions.size(), 1u);
}

TEST(Inspect, SeesWhatADaemonHasWrittenWhileAnotherProcessHoldsTheLock) {
  Store store;
  ASSERT_TRUE(store.insert_session("session_1").has_value());
  Peer engine(store.path);
  engine("BEGIN IMMEDIATE; INSERT INTO engine_state VALUES(1, 'http://127.0.0.1:8000', '2026-10-01 12:00:06.000000')");

  const auto view = inspect_store(store.path);
  engine("COMMIT");

  ASSERT_TRUE(view.has_value()) << view.error().text;
  EXPECT_EQ(rows_of(*view, "sessions"), 1);
  EXPECT_EQ(rows_of(*view, "engine_state"), 0);
  EXPECT_GT(view->wal_bytes, 0u);
  EXPECT_EQ(view->journal_mode, "wal");
  EXPECT_TRUE(store.heartbeat("session_1").has_value()) << "looking does not disturb the daemon";
}

TEST(Inspect, ReadsWhatADaemonThatWasKilledLeftInItsLog) {
  Store store;
  ASSERT_TRUE(store.insert_session("session_1").has_value());
  TemporaryFolder after;
  for (const char* suffix : {"", "-wal", "-shm"})
    std::filesystem::copy_file(store.path + suffix, after.file("tinker.db") + suffix);

  const auto list = inspect_sessions(after.file("tinker.db"), kNoon, 10);

  ASSERT_TRUE(list.has_value()) << list.error().text;
  EXPECT_EQ(list->sessions.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(after.file("tinker.db-wal"))) << "the log belongs to the daemon";
}

TEST(Inspect, WorksWhereNothingCanBeWritten) {
  TemporaryFolder folder;
  const std::string path = peer_database(folder);
  std::filesystem::permissions(folder.path(), static_cast<std::filesystem::perms>(0555));
  WithoutRoot nobody;

  const auto view = inspect_store(path);

  ASSERT_TRUE(view.has_value()) << view.error().text;
  EXPECT_EQ(rows_of(*view, "futures"), 13);
}

TEST(Inspect, SaysWhenALogCouldNotBeRead) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  {
    Store store;
    ASSERT_TRUE(store.insert_session("session_1").has_value());
    as_peer(store.path, "PRAGMA wal_checkpoint(TRUNCATE)");
    ASSERT_TRUE(store.insert_session("session_2").has_value());
    std::filesystem::copy_file(store.path, path);
    std::filesystem::copy_file(store.path + "-wal", path + "-wal");
  }
  std::filesystem::permissions(folder.path(), static_cast<std::filesystem::perms>(0555));
  WithoutRoot nobody;

  const auto list = inspect_sessions(path, kNoon, 10);

  ASSERT_TRUE(list.has_value()) << list.error().text;
  EXPECT_EQ(list->sessions.size(), 1u);
  EXPECT_THAT(list->note, AllOf(HasSubstr("write-ahead log of"), HasSubstr("the state before it")));
}

TEST(Inspect, ShowsAFileOfAnotherReleaseAsItIs) {
  TemporaryFolder folder;
  const std::string path = folder.file("old.db");
  as_peer(path,
          "CREATE TABLE futures (request_id INTEGER PRIMARY KEY); INSERT INTO futures VALUES (1); CREATE TABLE \"a\"\"b\" (x)");

  const auto view = inspect_store(path);
  const auto list = inspect_sessions(path, kNoon, 10);

  ASSERT_TRUE(view.has_value()) << view.error().text;
  EXPECT_EQ(rows_of(*view, "futures"), 1);
  EXPECT_EQ(rows_of(*view, "a\"b"), 0);
  EXPECT_EQ(view->journal_mode, "rollback");
  EXPECT_EQ(view->upstream_url, std::nullopt);
  ASSERT_FALSE(list.has_value());
  EXPECT_EQ(list.error().code, base::Code::not_found);
  EXPECT_THAT(list.error().text, HasSubstr("has no table of sessions"));
}

TEST(Inspect, SaysWhenThereIsNothingToLookAt) {
  TemporaryFolder folder;
  write_file(folder.file("notes"), "no database");

  const auto absent = inspect_store(folder.file("tinker.db"));
  const auto foreign = inspect_store(folder.file("notes"));

  ASSERT_FALSE(absent.has_value());
  EXPECT_THAT(absent.error().text, AllOf(HasSubstr(folder.file("tinker.db")), HasSubstr("no such file")));
  ASSERT_FALSE(foreign.has_value());
  EXPECT_THAT(foreign.error().text, HasSubstr("not an SQLite database"));
  EXPECT_EQ(names_in(folder), std::set<std::string>{"notes"});
}

}  // namespace
}  // namespace tinker::store
