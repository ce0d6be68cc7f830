// SPDX-License-Identifier: Apache-2.0
#include "store/text_forms.h"

#include <gtest/gtest.h>

namespace tinker::store {
namespace {

using namespace std::chrono;

TEST(DatetimeText, HasSixDigitsWhateverTheFraction) {
  const auto second = sys_days{2026y / October / 1} + 12h + 0min + 10s;

  EXPECT_EQ(datetime_text(second), "2026-10-01 12:00:10.000000");
  EXPECT_EQ(datetime_text(second + 500ms), "2026-10-01 12:00:10.500000");
  EXPECT_EQ(datetime_text(second + 7us + 999ns), "2026-10-01 12:00:10.000007");
}

TEST(DatetimeText, HoldsAcrossYearsAndBeforeTheEpoch) {
  EXPECT_EQ(datetime_text(sys_days{2028y / February / 29} + 23h + 59min + 59s + 999'999us), "2028-02-29 23:59:59.999999");
  EXPECT_EQ(datetime_text(sys_days{1970y / January / 1} - 1us), "1969-12-31 23:59:59.999999");
}

TEST(DatetimeText, IsReadBack) {
  for (const auto time :
       {sys_days{2026y / October / 1} + 12h + 10s + 500'000us, sys_days{2000y / December / 31} + 86'399s + 1us})
    EXPECT_EQ(parse_datetime(datetime_text(time)), base::Wall{time});
}

TEST(DatetimeText, OtherFormsAreNotRead) {
  for (const char* text : {"", "2026-10-01 12:00:10", "2026-10-01T12:00:10.500000", "2026-10-01 12:00:10.5000000",
                           "2026-13-01 12:00:10.500000", "2026-02-30 12:00:10.500000", "2026-10-01 24:00:10.500000",
                           "2026-10-01 12:00:1x.500000", "2026-10-01 12:00:10.50000Z", "+026-10-01 12:00:10.500000"})
    EXPECT_EQ(parse_datetime(text), std::nullopt) << text;
}

TEST(JsonText, IsWhatThePeerWrites) {
  EXPECT_EQ(json_text(R"(["a","é"])").value(), R"(["a", "\u00e9"])");
  EXPECT_EQ(json_text("{\n  \"k\" : 1,\"l\":[ ],\"m\":{\"n\":null}}").value(), R"({"k": 1, "l": [], "m": {"n": null}})");
  EXPECT_EQ(json_text("[\"\x7f\", \"😀\"]").value(), R"(["\u007f", "\ud83d\ude00"])");
}

TEST(JsonText, LeavesStringsNumbersAndEscapesAlone) {
  for (const char* json : {R"(["a,b:c", " x "])", R"(["\"", "\\", "\u00e9", "\n"])", "[1, -2.50, 1e5, 12345678901234567890]",
                           "[true, false, null]", R"({"a": "\\\""})"})
    EXPECT_EQ(json_text(json).value(), json);
}

TEST(JsonText, RefusesWhatIsNotUtf8) {
  for (const char* json :
       {"[\"\xff\"]", "[\"\xc3\"]", "[\"\xc0\xaf\"]", "[\"\xed\xa0\x80\"]", "[\"\xf5\x80\x80\x80\"]", "[\"a"})
    EXPECT_FALSE(json_text(json).has_value()) << json;
}

}  // namespace
}  // namespace tinker::store
