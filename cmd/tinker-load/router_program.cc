// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/router_program.h"

#include <cstdio>

#include "loop/open_files.h"
#include "tinker-load/stop_signals.h"

namespace tinker::load {

base::Result<RouterCounts> run_router(const RouterOptions& options) {
  loop::raise_open_files();
  loop::EventLoop loop("router");
  auto router = Router::listen(loop, options);
  if (!router) return tl::unexpected(router.error());
  const StopSignals signals(loop);
  std::printf("listening on http://%s:%u\n", options.host.c_str(), (*router)->port());
  std::fflush(stdout);
  loop.run();
  return (*router)->counts();
}

}  // namespace tinker::load
