// SPDX-License-Identifier: Apache-2.0
#include "api/json_cache.h"

#include <gtest/gtest.h>

#include "tinker_public.pb.h"

namespace tinker::api {
namespace {

base::SharedBytes result(std::int32_t token) {
  tinker_public::SampleResponse response;
  response.add_sequences()->set_tokens(std::string(reinterpret_cast<const char*>(&token), sizeof token));
  return base::SharedBytes(response.SerializeAsString());
}

TEST(JsonCache, DerivesAResultOnce) {
  JsonCache cache(1 << 20);
  const base::SharedBytes bytes = result(7);

  const auto first = cache.of({1}, bytes);
  const auto second = cache.of({1}, bytes);

  ASSERT_TRUE(first && second);
  EXPECT_NE(first->view().find("[7]"), std::string::npos);
  EXPECT_EQ(first->data(), second->data());
}

TEST(JsonCache, LetsTheLeastRecentlyUsedGo) {
  const auto size = JsonCache(1).of({1}, result(7))->size();
  JsonCache cache(2 * size);
  const char* first = cache.of({1}, result(7))->data();
  const auto second = cache.of({2}, result(8));
  cache.of({1}, result(7));

  cache.of({3}, result(9));

  EXPECT_EQ(cache.of({1}, result(7))->data(), first) << "used after 2";
  EXPECT_NE(cache.of({2}, result(8))->data(), second->data()) << "made anew";
}

TEST(JsonCache, GivesAResultThatIsLargerThanItself) {
  JsonCache cache(1);

  EXPECT_TRUE(cache.of({1}, result(7)));
}

TEST(JsonCache, RefusesBytesThatAreNoResult) {
  JsonCache cache(1 << 20);

  EXPECT_FALSE(cache.of({1}, base::SharedBytes(std::string("\xff\xff\xff"))));
}

}  // namespace
}  // namespace tinker::api
