// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

namespace tinker::base {
namespace {

TEST(ValidUtf8, CutsBetweenCharactersAndReplacesWhatIsNone) {
  EXPECT_EQ(valid_utf8("中文", 5), "中");
  EXPECT_EQ(valid_utf8("a\xff"
                       "b",
                       100),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(valid_utf8("\xED\xA0\x80", 100), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  EXPECT_EQ(valid_utf8("\xC0\x80|\xF5\x80", 100), "\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(valid_utf8("\xE4\xB8", 100), "\xEF\xBF\xBD\xEF\xBF\xBD");  // cut short
  EXPECT_EQ(valid_utf8("😀", 100), "😀");
}

TEST(ValidUtf8, LeavesAWholeTextAlone) {
  const std::string text = "a é 日 😀 \n";

  EXPECT_EQ(valid_utf8(text), text);
}

TEST(AppendUtf8, WritesWhatIsValidAtEveryLength) {
  for (const std::uint32_t code : {0x0u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    std::string text;
    append_utf8(code, text);

    EXPECT_EQ(valid_utf8(text), text) << code;
  }
}

}  // namespace
}  // namespace tinker::base
