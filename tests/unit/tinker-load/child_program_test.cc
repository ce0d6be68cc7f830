// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/child_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

namespace tinker::load {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string log_of(const char* name) { return testing::TempDir() + "child_program_" + name + std::to_string(getpid()); }
bool never() { return false; }

void say(const char* text) {
  std::puts(text);
  std::fflush(stdout);
}

TEST(ChildProgram, TellsItsUrlAndEndsWithItsOwner) {
  auto program = ChildProgram::start(log_of("url"), [] {
    say("hello\nlistening on http://127.0.0.1:81 with 2 workers");
    while (true) pause();
  });
  ASSERT_TRUE(program.has_value()) << program.error().text;

  const auto url = program->wait_for_url(never);

  ASSERT_TRUE(url.has_value()) << url.error().text;
  EXPECT_EQ(*url, "http://127.0.0.1:81");
  const int pid = program->pid();
  { const ChildProgram ended(std::move(*program)); }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST(ChildProgram, SaysWhyItEnded) {
  auto program = ChildProgram::start(log_of("end"), [] { say("no such\nmodel"); });

  const auto url = program->wait_for_url(never);

  ASSERT_FALSE(url.has_value());
  EXPECT_EQ(url.error().text, "ended at once; its last words: model");
}

TEST(ChildProgram, IsNotWaitedForWhenWeAreStopped) {
  auto program = ChildProgram::start(log_of("stop"), [] { pause(); });

  const auto url = program->wait_for_url([] { return true; });

  ASSERT_FALSE(url.has_value());
  EXPECT_THAT(url.error().text, HasSubstr("stopped before it listened"));
}

TEST(ChildProgram, MayBecomeAnother) {
  auto program = ChildProgram::start(log_of("sh"), [] {
    say(become({"/bin/sh", "-c", "echo listening on http://127.0.0.1:82; sleep 100"}).c_str());
  });
  auto missing = ChildProgram::start(log_of("missing"), [] { say(become({"/no/such/program"}).c_str()); });

  EXPECT_EQ(program->wait_for_url(never).value_or(""), "http://127.0.0.1:82");
  EXPECT_THAT(missing->wait_for_url(never).error().text, EndsWith("cannot run /no/such/program: No such file or directory"));
}

}  // namespace
}  // namespace tinker::load
