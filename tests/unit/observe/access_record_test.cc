// SPDX-License-Identifier: Apache-2.0
#include "observe/access_record.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

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

// Whatever bytes a client sends: one line, nine fields, and the reader takes it.
TEST(AccessRecord, AnyTextsGiveOneLineThatReadsBack) {
  std::mt19937 random(7);
  const auto bytes = [&](std::size_t most) {
    std::string text(random() % most, '\0');
    for (char& c : text) c = static_cast<char>(random() % 3 == 0 ? " \n\r\t-%\"\x7f\0"[random() % 9] : random());
    return text;
  };
  for (int i = 0; i < 2000; ++i) {
    AccessRecord any = record();
    any.client = bytes(40);
    any.method = bytes(300);
    any.path = bytes(3000);
    any.request_id = bytes(300);

    std::string line = line_of(any);

    ASSERT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    ASSERT_EQ(std::count(line.begin(), line.end(), ' '), 8);
    ASSERT_TRUE(std::ranges::all_of(line, [](char c) { return c == '\n' || (c >= ' ' && c < 0x7f); }));
    line.pop_back();
    const auto read = parse_line(line);
    ASSERT_TRUE(read) << read.error().text;
    ASSERT_EQ(read->status, any.status);
    ASSERT_EQ(read->bytes_out, any.bytes_out);
  }
}

// Shorter than the bytes that a pipe takes at once, so that lines of two writers do not mix.
TEST(AccessRecord, CutsLongTexts) {
  for (const char c : {'a', '\n'}) {
    AccessRecord long_texts = record();
    long_texts.path = long_texts.method = long_texts.client = long_texts.request_id = std::string(100'000, c);

    EXPECT_LT(line_of(long_texts).size(), 1600u);
  }
}

TEST(AccessRecord, TakesAnyNumbers) {
  AccessRecord odd = record();
  odd.bytes_in = odd.bytes_out = std::numeric_limits<std::uint64_t>::max();
  for (const double ms : {-1.0, 1e300, std::numeric_limits<double>::infinity(), 0.0004, 59999.9996}) {
    odd.milliseconds = ms;
    std::string line = line_of(odd);
    line.pop_back();

    const auto read = parse_line(line);

    ASSERT_TRUE(read) << line;
    EXPECT_EQ(read->bytes_in, odd.bytes_in);
    EXPECT_GE(read->milliseconds, 0);
  }
}

TEST(AccessRecord, PassesOverFieldsOfALaterRelease) {
  std::string line = line_of(record());
  line.back() = ' ';

  const auto read = parse_line(line + "more fields");

  ASSERT_TRUE(read);
  EXPECT_EQ(read->request_id, "s42");
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
  for (const char* time :
       {"2026-13-01T12:00:00.123Z", "2026-12-00T12:00:00.123Z", "2026-12-01T24:00:00.123Z", "2026-12-01 12:00:00.123Z",
        "2026-12-01T12:00:00,123Z", "2026-1--01T12:00:00.123Z", "2026-12-01T12:00:00.123", "+026-12-01T12:00:00.123Z"}) {
    EXPECT_FALSE(parse_line(std::string(time) + " a GET / 200 0 0 0.0 -")) << time;
  }
  for (const char* ms : {"nan", "inf", "-1", "1ms"})
    EXPECT_NE(parse_line(std::string("2026-12-01T12:00:00.123Z a GET / 200 0 0 ") + ms + " -").error().text.find("ms is"),
              std::string::npos);
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
