// SPDX-License-Identifier: Apache-2.0
// What an operator is told when the database cannot be used (cases.md S9): one line, and nothing damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/tinker_db.h"
#include "unit/store/fixture.h"

namespace tinker::store {
namespace {

using base::Code;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

base::Error refusal(const std::string& path) {
  static const base::SystemClock clock;
  auto opened = TinkerDb::open("sqlite:///" + path, clock, {.busy = std::chrono::milliseconds{50}});
  if (opened) return {Code::internal, "it was opened"};
  EXPECT_THAT(opened.error().text, AllOf(HasSubstr(path), Not(HasSubstr("\n"))));
  return opened.error();
}

TEST(TinkerDbOpen, S9_AFileThatIsNoDatabase) {
  TemporaryFolder folder;
  const std::string path = folder.file("notes.txt");
  const std::string bytes = std::string(5000, 'n');
  write_file(path, bytes);

  const auto error = refusal(path);

  EXPECT_THAT(error.text, AllOf(HasSubstr("not an SQLite database"), HasSubstr("move the file away")));
  EXPECT_EQ(read_file(path), bytes);
}

TEST(TinkerDbOpen, S9_ADatabaseThatWasCutShort) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  as_peer(path, peer_sql(1) + peer_sql(3));
  const std::string bytes = read_file(path).substr(0, 20'000);
  write_file(path, bytes);

  const auto error = refusal(path);

  EXPECT_THAT(error.text, AllOf(HasSubstr("damaged"), HasSubstr("malformed"), HasSubstr("move it away")));
  EXPECT_EQ(read_file(path), bytes);
}

TEST(TinkerDbOpen, S9_ADatabaseWithRubbishInItsSchema) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  as_peer(path, peer_sql(1) + peer_sql(3));
  std::string bytes = read_file(path);
  bytes.replace(100, 500, std::string(500, '\xee'));
  write_file(path, bytes);

  const auto error = refusal(path);

  EXPECT_THAT(error.text, HasSubstr("damaged"));
  EXPECT_EQ(read_file(path), bytes);
}

TEST(TinkerDbOpen, S9_AFolderThatDoesNotExist) {
  TemporaryFolder folder;

  const auto error = refusal(folder.file("state/tinker.db"));

  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_THAT(error.text, HasSubstr("the directory " + folder.file("state") + " does not exist (create it"));
}

TEST(TinkerDbOpen, S9_AFolderInPlaceOfAFile) {
  TemporaryFolder folder;

  const auto error = refusal(folder.path());

  EXPECT_THAT(error.text, HasSubstr("it is a directory; name a file in it"));
}

TEST(TinkerDbOpen, S9_AFileThatMayNotBeRead) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  as_peer(path, peer_sql(1));
  std::filesystem::permissions(folder.path(), static_cast<std::filesystem::perms>(0755));
  std::filesystem::permissions(path, std::filesystem::perms::none);
  WithoutRoot nobody;

  const auto error = refusal(path);

  EXPECT_EQ(error.code, Code::permission_denied);
  EXPECT_THAT(error.text, AllOf(HasSubstr("Permission denied"), HasSubstr("run as the user that owns it")));
}

TEST(TinkerDbOpen, S9_AFileThatMayOnlyBeRead) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  as_peer(path, "PRAGMA journal_mode=WAL;" + peer_sql(1));
  const std::string bytes = read_file(path);
  std::filesystem::permissions(path, static_cast<std::filesystem::perms>(0444));
  std::filesystem::permissions(folder.path(), static_cast<std::filesystem::perms>(0777));
  base::Error error;
  {
    WithoutRoot nobody;
    error = refusal(path);
  }

  EXPECT_EQ(error.code, Code::permission_denied);
  EXPECT_THAT(error.text, HasSubstr("for writing: permission denied"));
  EXPECT_EQ(read_file(path), bytes);
}

TEST(TinkerDbOpen, S9_AFolderInWhichNothingCanBeMade) {
  TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), static_cast<std::filesystem::perms>(0555));
  WithoutRoot nobody;

  const auto error = refusal(folder.file("tinker.db"));

  EXPECT_EQ(error.code, Code::permission_denied);
  EXPECT_THAT(error.text, HasSubstr("there is no such file, and none can be made in " + folder.path()));
}

TEST(TinkerDbOpen, S9_AFileThatAnotherProcessKeepsLocked) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  Peer other(path);
  other("BEGIN EXCLUSIVE; CREATE TABLE sessions (session_id)");

  const auto error = refusal(path);
  other("ROLLBACK");

  EXPECT_EQ(error.code, Code::unavailable);
  EXPECT_THAT(error.text, HasSubstr("busy limit of 0.05 s"));
}

TEST(TinkerDbOpen, AnEmptyFileBecomesADatabase) {
  TemporaryFolder folder;
  const std::string path = folder.file("tinker.db");
  write_file(path, "");
  const base::SystemClock clock;

  const auto opened = TinkerDb::open("sqlite:///" + path, clock);

  ASSERT_TRUE(opened.has_value()) << opened.error().text;
  EXPECT_EQ((*opened)->path(), path);
}

TEST(TinkerDbOpen, APathIsTakenLiterally) {
  TemporaryFolder folder;
  const std::string path = folder.file("file:x #1 50%.db");
  const base::SystemClock clock;

  const auto opened = TinkerDb::open("sqlite:///" + path, clock);

  ASSERT_TRUE(opened.has_value()) << opened.error().text;
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace tinker::store
