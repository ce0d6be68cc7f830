// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <deque>
#include <memory>
#include <string>

#include "base/clock.h"
#include "control/calls.h"

namespace tinker::ctl {

// Options that every command takes.
struct Common {
  std::string socket = "/run/tinkerd/control.sock";
  std::string database_url = "sqlite:////var/lib/tinkerd/tinker.db";  // read when the daemon is down
  bool json = false;
  double timeout_sec = 10;
};

// One subcommand made from a call of control.proto: fields in the path, and the strings of a change, are arguments, others
// options.
//
// Owned by  main, for the life of the command line's parser, which writes into it.
class CallCommand {
 public:
  CallCommand(CLI::App& parent, const control::CallRow& call);
  CallCommand(const CallCommand&) = delete;
  CallCommand& operator=(const CallCommand&) = delete;

  bool chosen() const { return app_->parsed(); }
  // Asks the daemon and prints its reply. Returns the exit code.
  int run(const Common& common) const;

 private:
  struct Parameter {
    const google::protobuf::FieldDescriptor* field;
    std::string text;
    bool flag = false;
    CLI::Option* option = nullptr;
  };
  const control::CallRow& call_;
  CLI::App* app_;
  std::deque<Parameter> parameters_;
};

// The subcommand of `parent` that is named by all words but the last of `command`, made when absent.
CLI::App& group_of(CLI::App& parent, const std::string& command);

// Prints `reply` as --json or as people read it.
void print(const google::protobuf::Message& reply, const Common& common);
// Prints an error on stderr and gives its exit code.
int complain(const base::Error& error);

}  // namespace tinker::ctl
