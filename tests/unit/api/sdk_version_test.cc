// SPDX-License-Identifier: Apache-2.0
#include "api/sdk_version.h"

#include <gtest/gtest.h>

namespace tinker::api {
namespace {

TEST(SdkVersion, IsReadFromWhatTheSdkSends) {
  EXPECT_EQ(SdkVersion::parse("0.38.0"), (SdkVersion{0, 38}));
  EXPECT_EQ(SdkVersion::parse("1.2rc1"), (SdkVersion{1, 2}));
  EXPECT_GT(SdkVersion::parse("1.0.0"), SdkVersion::parse("0.38.0"));
  EXPECT_LT(SdkVersion::parse("0.9.1"), SdkVersion::parse("0.27.0"));
}

TEST(SdkVersion, OfAnythingElseKnowsNothing) {
  for (const char* text : {"", "x", "7", "7.", ".7", "-1.38", "0.-38", " 0.38", "v0.38", "99999999999.1", "0.99999999999"}) {
    EXPECT_EQ(SdkVersion::parse(text), SdkVersion{}) << text;
  }
}

}  // namespace
}  // namespace tinker::api
