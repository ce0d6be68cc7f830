// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <cstdio>
#include <deque>

#include "tinkerctl/call_command.h"
#include "tinkerctl/exit_code.h"
#include "tinkerctl/log_tail.h"

int main(int argc, char** argv) {
  using namespace tinker::ctl;
  CLI::App app("Operates tinkerd over its control socket.", "tinkerctl");
  app.footer(
      "Exit codes: 0 done, 1 refused or failed, 2 wrong command line, 3 tinkerd is not running, 4 not allowed, 5 no such "
      "thing,\n"
      "6 no answer in time. Example: tinkerctl futures list --state queued --json. See tinkerctl(1).");
  app.set_version_flag("--version", std::string("tinkerctl ") + TINKER_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  Common common;
  app.add_option("--socket", common.socket, "the daemon's control socket")
      ->envname("TINKERD_CONTROL_SOCKET")
      ->capture_default_str();
  app.add_option("--database-url", common.database_url, "the database, read when the daemon is down")
      ->envname("TINKERD_DATABASE_URL")
      ->capture_default_str();
  app.add_flag("--json", common.json, "print JSON, with the fields of control.proto");
  app.add_option("--timeout", common.timeout_sec, "longest wait for the daemon, in seconds")->capture_default_str();
  std::deque<CallCommand> commands;
  for (const tinker::control::CallRow& row : tinker::control::calls()) commands.emplace_back(app, row);
  LogTail log_tail(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  if (log_tail.chosen()) return log_tail.run(common);
  for (const CallCommand& command : commands) {
    if (command.chosen()) return command.run(common);
  }
  return kUsage;
}
