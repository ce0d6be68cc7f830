// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

namespace tinker::base {
namespace {

TEST(Buffer, KeepsItsBytesWhenItGrows) {
  Buffer buffer;
  std::string expected;

  for (int i = 0; i < 1000; ++i) {
    buffer.append("abc");
    expected += "abc";
  }

  EXPECT_EQ(buffer.view(), expected);
}

TEST(Buffer, HasReadablePaddingBehindItsCapacity) {
  Buffer buffer;
  buffer.reserve(10);

  for (std::size_t i = 0; i < Buffer::kPadding; ++i) EXPECT_EQ(buffer.data()[buffer.capacity() + i], 0);
}

TEST(Buffer, MovesWithoutACopy) {
  Buffer from;
  from.append("bytes");
  const char* data = from.data();

  Buffer to(std::move(from));

  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(to.view(), "bytes");
}

TEST(SharedBytes, OutliveTheFirstOwner) {
  SharedBytes kept;
  {
    SharedBytes first(std::string("a result"));
    kept = first;
  }

  EXPECT_EQ(kept.view(), "a result");
}

TEST(SharedBytes, TakeABufferWithoutACopy) {
  Buffer buffer;
  buffer.append("a result");
  const char* data = buffer.data();

  const SharedBytes bytes(std::move(buffer));

  EXPECT_EQ(bytes.data(), data);
}

}  // namespace
}  // namespace tinker::base
