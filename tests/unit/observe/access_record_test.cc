// SPDX-License-Identifier: Apache-2.0
#include "observe/access_record.h"

#include <gtest/gtest.h>

namespace tinker::observe {
namespace {

AccessRecord record() {
  return {.time = base::Wall{std::chrono::milliseconds{1796126400123}},
          .client = "127.0.0.1:4711",
          .method = "POST",
          .path = "/api/v1/asample",
          .status = 200,
          .bytes_in = 341,
          .bytes_out = 120,
          .milliseconds = 1.2345,
          .request_id = "s42"};
}

std::string line_of(const AccessRecord& record) {
  std::string line;
  append_line(record, line);
  return line;
}

TEST(AccessRecord, IsAPlainLine) {
  EXPECT_EQ(line_of(record()), "2026-12-01T12:00:00.123Z 127.0.0.1:4711 POST /api/v1/asample 200 341 120 1.235 s42\n");
}

TEST(AccessRecord, ReadsWhatItWrites) {
  std::string line = line_of(record());
  line.pop_back();

  const auto read = parse_line(line);

  ASSERT_TRUE(read);
  EXPECT_EQ(line_of(*read), line + "\n");
  EXPECT_EQ(read->time, record().time);
}

TEST(AccessRecord, NobodyCanForgeALine) {
  AccessRecord forged = record();
  forged.path = "/a b\n2026-12-01T12:00:00.123Z 1.1.1.1:1 GET / 200 0 0 0.000 -\r\x1b[31m\xff";
  forged.request_id = "x y";

  const std::string line = line_of(forged);

  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_EQ(std::count(line.begin(), line.end(), ' '), 8);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

TEST(AccessRecord, CutsALongPath) {
  AccessRecord record_with_long_path = record();
  record_with_long_path.path = "/" + std::string(100'000, 'a');

  EXPECT_LT(line_of(record_with_long_path).size(), 1200u);
}

TEST(AccessRecord, ShowsWhatIsMissingAsADash) {
  const std::string line = line_of({.time = record().time});

  EXPECT_EQ(line, "2026-12-01T12:00:00.123Z - - - 0 0 0 0.000 -\n");
}

TEST(AccessRecord, NamesTheFieldThatIsWrong) {
  EXPECT_NE(parse_line("2026-12-01T12:00:00.123Z a GET / x 0 0 0.0 -").error().text.find("status is 'x'"), std::string::npos);
  EXPECT_NE(parse_line("yesterday a GET / 200 0 0 0.0 -").error().text.find("time"), std::string::npos);
  EXPECT_NE(parse_line("2026-12-01T12:00:00.123Z a GET /").error().text.find("status"), std::string::npos);
  EXPECT_FALSE(parse_line(""));
}

TEST(AccessFilter, TakesStatusPathAndTime) {
  AccessFilter filter;
  AccessRecord slow = record();
  slow.status = 503;
  slow.milliseconds = 700;

  ASSERT_TRUE(read_status("5xx", filter));
  filter.slower_than_ms = 500;
  filter.path_prefix = "/api";

  EXPECT_TRUE(filter.takes(slow));
  EXPECT_FALSE(filter.takes(record()));
}

TEST(AccessFilter, ReadsTheFormsOfAStatus) {
  AccessFilter filter;

  ASSERT_TRUE(read_status(">=400", filter));
  EXPECT_EQ(filter.least_status, 400);
  EXPECT_EQ(filter.most_status, 999);
  ASSERT_TRUE(read_status("404", filter));
  EXPECT_EQ(filter.least_status, 404);
  EXPECT_EQ(filter.most_status, 404);
  for (const char* wrong : {"", "x", "6xx", "4x", ">400", "-1", "2000"}) EXPECT_FALSE(read_status(wrong, filter)) << wrong;
}

}  // namespace
}  // namespace tinker::observe
