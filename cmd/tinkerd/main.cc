// SPDX-License-Identifier: Apache-2.0
#include <sysexits.h>

#include <csignal>
#include <cstdio>

#include "config/load.h"
#include "daemon/daemon.h"
#include "observe/diagnostics.h"

namespace {

int complain(const tinker::base::Error& error, int code) {
  std::fprintf(stderr, "tinkerd: %s\n", error.text.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  tinker::config::Settings settings;
  const auto loaded = tinker::config::load(settings, argc, argv);
  if (!loaded) return complain(loaded.error(), EX_USAGE);
  if (*loaded) {
    std::fputs((*loaded)->text.c_str(), stdout);
    return EX_OK;
  }
  tinker::observe::start_diagnostics(settings.log_level.get());
  auto daemon = tinker::daemon::Daemon::make(settings);
  if (!daemon) {
    tinker::observe::stop_diagnostics();
    return complain(daemon.error(), 1);
  }
  (*daemon)->run();
  daemon->reset();
  tinker::observe::stop_diagnostics();
  return EX_OK;
}
