// SPDX-License-Identifier: Apache-2.0
#include "api/tinker_path.h"

#include <gtest/gtest.h>

namespace tinker::api {
namespace {

TEST(SamplerPath, TakesBothForms) {
  for (const char* text : {"tinker://m1/ck1", "tinker://m1/sampler_weights/ck1", "tinker://m1/ck1?x=1", "tinker://m1/ck1#f"}) {
    const auto path = parse_sampler_path(text);

    ASSERT_TRUE(path) << text;
    EXPECT_EQ(path->model_id, "m1");
    EXPECT_EQ(path->checkpoint_id, "ck1");
  }
}

TEST(SamplerPath, RefusesEverythingElse) {
  for (const char* text :
       {"", "tinker://", "tinker://m1", "tinker://m1/", "tinker:///ck1", "tinker://m1/weights/ck1",
        "tinker://m1/sampler_weights/", "tinker://m1/sampler_weights/a/b", "http://m1/ck1", "m1/ck1", "tinker:/m1/ck1"}) {
    EXPECT_FALSE(parse_sampler_path(text)) << text;
  }
}

}  // namespace
}  // namespace tinker::api
