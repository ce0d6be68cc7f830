// SPDX-License-Identifier: Apache-2.0
#include "observe/line_output.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "pipe.h"

namespace tinker::observe {
namespace {

using namespace std::chrono_literals;

std::string many_lines(int count) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += "line " + std::to_string(i) + "\n";
  return lines;
}

std::size_t count_of_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(LineOutput, WritesLines) {
  Pipe pipe;
  LineOutput output = LineOutput::sharing(pipe.writer());

  EXPECT_EQ(output.write("a\nb\n", 0ms), 2u);

  EXPECT_EQ(pipe.read(), "a\nb\n");
}

// 64 KB into a pipe of 4 KB that nobody reads: a blocking write would never return.
TEST(LineOutput, S7_APipeThatNobodyReadsStopsNoWriter) {
  Pipe pipe;
  LineOutput output = LineOutput::sharing(pipe.writer());

  const std::uint64_t taken = output.write(many_lines(6000), 1ms);

  EXPECT_GT(taken, 0u);
  EXPECT_LT(taken, 6000u);
  EXPECT_STREQ(output.why(), "nobody reads them");
  EXPECT_EQ(count_of_lines(pipe.read()), taken);
}

TEST(LineOutput, S7_ASocketThatNobodyReadsStopsNoWriter) {
  std::array<int, 2> ends;
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  LineOutput output = LineOutput::sharing(ends[1]);

  const std::uint64_t taken = output.write(many_lines(200'000), 1ms);

  EXPECT_GT(taken, 0u);
  EXPECT_LT(taken, 200'000u);
  ::close(ends[0]);
  EXPECT_EQ(output.write("x\n", 0ms), 0u);
  ::close(ends[1]);
}

// A descriptor that cannot be opened anew is asked before each write, and given no more than it takes at once.
TEST(LineOutput, S7_ABlockingPipeThatNobodyReadsStopsNoWriter) {
  Pipe pipe;
  LineOutput output(loop::FileDescriptor(::dup(pipe.writer())));

  const std::uint64_t taken = output.write(many_lines(6000), 1ms);

  EXPECT_GT(taken, 0u);
  EXPECT_LT(taken, 6000u);
}

TEST(LineOutput, LeavesASharedDescriptorAsItIs) {
  Pipe pipe;

  LineOutput output = LineOutput::sharing(pipe.writer());

  EXPECT_EQ(::fcntl(pipe.writer(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(LineOutput, ALineThatWasCutSpoilsNoOther) {
  Pipe pipe;
  LineOutput output = LineOutput::sharing(pipe.writer());
  output.write(std::string(5000, 'x') + "\n", 0ms);
  EXPECT_EQ(output.write("lost\n", 0ms), 0u);
  EXPECT_EQ(pipe.read(), std::string(4096, 'x'));

  EXPECT_EQ(output.write("next\n", 0ms), 1u);
  EXPECT_EQ(output.write("another\n", 0ms), 1u);

  EXPECT_EQ(pipe.read(), "\nnext\nanother\n");
}

TEST(LineOutput, SaysWhatAFullDiskSays) {
  LineOutput output(loop::FileDescriptor(::open("/dev/full", O_WRONLY | O_CLOEXEC)));

  EXPECT_EQ(output.write("a\n", 1ms), 0u);

  EXPECT_STREQ(output.why(), "No space left on device");
}

TEST(LineOutput, SaysThatItsReaderLeft) {
  const WithoutSigpipe quiet;
  Pipe pipe;
  LineOutput output = LineOutput::sharing(pipe.writer());
  pipe.hang_up();

  EXPECT_EQ(output.write("a\n", 1ms), 0u);

  EXPECT_STREQ(output.why(), "Broken pipe");
}

TEST(LineOutput, AFileKeepsItsPlace) {
  std::string path = (std::filesystem::temp_directory_path() / "tinkerd-output-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  ASSERT_EQ(::write(file, "before\n", 7), 7);
  LineOutput output = LineOutput::sharing(file);

  EXPECT_EQ(output.write("ours\n", 0ms), 1u);
  ASSERT_EQ(::write(file, "after\n", 6), 6);

  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), "before\nours\nafter\n");
  ::close(file);
  ::unlink(path.c_str());
}

TEST(LineOutput, WithoutADescriptorTakesNothing) {
  LineOutput closed = LineOutput::sharing(-1);
  LineOutput none;

  EXPECT_FALSE(closed.valid());
  EXPECT_EQ(none.write("a\n", 0ms), 0u);
  EXPECT_STREQ(none.why(), "it is not open");
}

TEST(Patience, EndsSoonAfterFinish) {
  Patience patience;
  EXPECT_GT(patience.left(), 0ms);
  EXPECT_FALSE(patience.finishing());

  patience.finish();

  EXPECT_TRUE(patience.finishing());
  EXPECT_LE(patience.left(), 250ms);
}

}  // namespace
}  // namespace tinker::observe
