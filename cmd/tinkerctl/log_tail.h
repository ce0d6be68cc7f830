// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "tinkerctl/call_command.h"

namespace tinker::ctl {

// `log tail`: the last lines of the access log, filtered, and with -f what comes, over rotations of the file.
//
// Owned by  main, for the life of the command line's parser.
class LogTail {
 public:
  explicit LogTail(CLI::App& parent);
  LogTail(const LogTail&) = delete;
  LogTail& operator=(const LogTail&) = delete;

  bool chosen() const { return app_->parsed(); }
  // Returns the exit code; with -f only when it is interrupted.
  int run(const Common& common) const;

 private:
  // The file named by --file, or the one that the running daemon writes.
  base::Result<std::string> file(const Common& common) const;

  CLI::App* app_;
  bool follow_ = false;
  int lines_ = 20;
  std::string file_;
  std::string status_;
  std::string path_;
  double slow_ms_ = 0;
};

}  // namespace tinker::ctl
