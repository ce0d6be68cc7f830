// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/client_process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "tinker-load/totals.h"

namespace tinker::load {
namespace {

// All that a client process tells, to its end.
std::string told(const ClientProcess& process) {
  std::string text;
  char bytes[4096];
  for (ssize_t got; (got = read(process.messages.get(), bytes, sizeof bytes)) > 0;)
    text.append(bytes, static_cast<std::size_t>(got));
  waitpid(process.pid, nullptr, 0);
  return text;
}

std::string last_line(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

TEST(RunClient, GivesOrdersAndEnvironmentAndHearsMessages) {
  const auto process =
      run_client({"sh", "-c", "read orders; echo $orders $TINKER_LOAD_TEST"}, {"TINKER_LOAD_TEST=here"}, "sample!\n");

  ASSERT_TRUE(process.has_value()) << process.error().text;
  EXPECT_EQ(told(*process), "sample! here\n");
}

TEST(RunClient, HearsOfAProgramThatIsNotThere) {
  const auto process = run_client({"/no/such/python"}, {}, "\n");
  ASSERT_TRUE(process.has_value());

  const auto message = read_message(told(*process));

  ASSERT_TRUE(message.has_value());
  EXPECT_EQ(message->fatal, "cannot run /no/such/python: No such file or directory (see --sdk-python)");
}

TEST(ForkClient, TellsWhyItCouldNotSample) {
  const auto process = fork_client(*http::SocketAddress::numeric("127.0.0.1", 1), {});
  ASSERT_TRUE(process.has_value()) << process.error().text;

  const auto message = read_message(last_line(told(*process)));

  ASSERT_TRUE(message && message->totals);
  EXPECT_EQ(message->totals->ended(), 0u);
  EXPECT_EQ(message->fatal, "/api/v1/create_session: connection to 127.0.0.1:1 refused (is the server running?)");
}

}  // namespace
}  // namespace tinker::load
