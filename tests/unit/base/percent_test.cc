// SPDX-License-Identifier: Apache-2.0
#include "base/percent.h"

#include <gtest/gtest.h>

namespace tinker::base {
namespace {

TEST(Percent, DecodesWhatItEncodes) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);

  const std::string encoded = percent_encoded(all);

  EXPECT_EQ(encoded.find_first_of(" /?#&\n"), std::string::npos);
  EXPECT_EQ(percent_decoded(encoded), all);
}

TEST(Percent, RefusesAPercentWithoutTwoHexDigits) {
  for (const char* text : {"%", "%4", "a%4", "%zz", "%4g", "%%41"}) EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
}

TEST(Percent, DecodesAnEscapeAtTheEnd) { EXPECT_EQ(percent_decoded("a%41"), "aA"); }

}  // namespace
}  // namespace tinker::base
