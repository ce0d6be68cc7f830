// SPDX-License-Identifier: Apache-2.0
#include "store/database_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace tinker::store {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string refusal(std::string_view url) {
  const auto path = database_path(url);
  if (path) return "accepted as " + *path;
  EXPECT_EQ(path.error().code, base::Code::invalid_argument);
  return path.error().text;
}

TEST(DatabaseUrl, FourSlashesAreAnAbsolutePath) {
  EXPECT_EQ(database_path("sqlite:////var/lib/tinkerd/tinker.db").value(), "/var/lib/tinkerd/tinker.db");
}

TEST(DatabaseUrl, ThreeSlashesAreRelativeToTheWorkingDirectory) {
  EXPECT_EQ(database_path("sqlite:///state/tinker.db").value(), (std::filesystem::current_path() / "state/tinker.db").string());
}

TEST(DatabaseUrl, KeepsAPercentSignThatEncodesNothing) { EXPECT_EQ(database_path("sqlite:////x/50%.db").value(), "/x/50%.db"); }

TEST(DatabaseUrl, RefusesPercentEncodingThatTheEngineWouldNotDecode) {
  EXPECT_THAT(refusal("sqlite:////x/my%20file.db"), HasSubstr("percent-encoding is not decoded"));
  EXPECT_THAT(refusal("sqlite:////x/file%41"), HasSubstr("percent-encoding is not decoded"));
}

TEST(DatabaseUrl, RefusesPostgresqlWithoutRepeatingItsPassword) {
  for (const char* url : {"postgresql://tinker:s3cret@db.internal:5432/tinker", "postgresql+asyncpg://tinker:s3cret@db/tinker",
                          "postgres://tinker:s3cret@db/tinker"}) {
    EXPECT_THAT(refusal(url), HasSubstr("this build serves SQLite; PostgreSQL comes with a later release"));
    EXPECT_THAT(refusal(url), Not(HasSubstr("s3cret")));
  }
}

TEST(DatabaseUrl, RefusesWhatIsNoFileAndSaysWhatToWrite) {
  EXPECT_THAT(refusal("mysql://u:p@h/db"), HasSubstr("the scheme 'mysql' is not served"));
  EXPECT_THAT(refusal("/var/lib/tinker.db"), HasSubstr("not a URL"));
  EXPECT_THAT(refusal("sqlite://host/tinker.db"), HasSubstr("has no host"));
  EXPECT_THAT(refusal("sqlite:////x/t.db?mode=ro"), HasSubstr("options after '?'"));
  for (const char* url : {"sqlite://", "sqlite:///", "sqlite:///:memory:"}) EXPECT_THAT(refusal(url), HasSubstr("in memory"));
  EXPECT_THAT(refusal("mysql://u:p@h/db"), HasSubstr("write sqlite:///relative/path or sqlite:////absolute/path"));
}

}  // namespace
}  // namespace tinker::store
