// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "tinker-load/all.h"
#include "tinker-load/arguments.h"
#include "tinker-load/compare.h"
#include "tinker-load/report.h"
#include "tinker-load/router_program.h"

namespace {

using namespace tinker;
using namespace tinker::load;

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

int complain(const base::Error& error) {
  std::fprintf(stderr, "tinker-load: %s\n", error.text.c_str());
  return error.code == base::Code::invalid_argument ? kUsage : kFailed;
}

int print(const std::string& report, bool good) {
  std::fputs(report.c_str(), stdout);
  return good ? kOk : kFailed;
}

int router(const RouterOptions& options, bool json) {
  const auto counts = run_router(options);
  if (!counts) return complain(counts.error());
  return print(json ? router_json(*counts) : router_text(*counts), true);
}

int report(const base::Result<RunOutcome>& outcome, std::size_t num_requests, bool json) {
  if (!outcome) return complain(outcome.error());
  return print(json ? report_json(*outcome) : report_text(*outcome), outcome->totals.counts.completed == num_requests);
}

int compare(const CompareOptions& options, bool json) {
  const auto outcomes = run_compare(options);
  if (!outcomes) return complain(outcomes.error());
  const bool good = std::ranges::all_of(*outcomes, [&](const auto& named) {
    return named.second.totals.counts.completed == options.run.load.num_requests * options.rounds;
  });
  return print(json ? compare_json(*outcomes) : compare_text(*outcomes), good);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Puts load on a Tinker server without a GPU: a simulated vLLM router, and a client that checks every result.",
               "tinker-load");
  app.footer(
      "Without a command, --role all, load or vllm names it, as in SkyRL's load_test_tinker_sampling.py; all is meant without\n"
      "--role. Exit codes: 0 every sample completed with its own result, 1 not so, 2 wrong command line. See tinker-load(1).");
  app.set_version_flag("--version", std::string("tinker-load ") + TINKER_VERSION);
  app.require_subcommand(1);
  bool json = false;
  const auto add_json = [&](CLI::App& command) { command.add_flag("--json", json, "print the report as JSON"); };

  AllOptions all;
  CLI::App& all_app =
      *app.add_subcommand("all", "Starts a router and tinkerd on this machine, samples through them, ends them.");
  add_sampling(all_app, all.run);
  add_shape(all_app, all.run.load.output_tokens, all.run.load.body);
  add_generation(all_app, all.router);
  all_app.add_option("--forwarding-max-connections", all.forwarding_max_connections, "tinkerd's connections to the router")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  all_app.add_option("--workers", all.workers, "event loops of tinkerd; 0: one a processor, more when connections need them")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  all_app.add_option("--tinkerd", all.tinkerd, "the program; that beside tinker-load, or in PATH, when left out");
  add_json(all_app);

  RouterOptions router_options;
  CLI::App& router_app =
      *app.add_subcommand("router", "A vLLM router that answers POST /v1/completions by itself, until SIGINT or SIGTERM.");
  router_app.add_option("--host", router_options.host, "numeric address to listen on")->capture_default_str();
  router_app.add_option("--port,--vllm-port", router_options.port, "port to listen on; 0 takes a free one")
      ->capture_default_str();
  add_generation(router_app, router_options);
  add_shape(router_app, router_options.output_tokens, router_options.body);
  add_json(router_app);

  RunOptions run;
  CLI::App& load_app = *app.add_subcommand(
      "load", "Samples through a Tinker server whose upstream is `tinker-load router`, and checks every result.");
  load_app.add_option("--url", run.url, "the server, http://HOST:PORT with a numeric host")->capture_default_str();
  load_app.add_option("--server-pid", run.server_pid, "process whose CPU and memory are reported, with those below it")
      ->check(CLI::PositiveNumber);
  load_app.add_option("--control-socket", run.control_socket, "tinkerd's control socket, for its peak connections");
  add_sampling(load_app, run);
  add_shape(load_app, run.load.output_tokens, run.load.body);
  add_json(load_app);

  CompareOptions comparison;
  std::vector<std::string> servers, pids, control_sockets;
  CLI::App& compare_app =
      *app.add_subcommand("compare", "Samples through several servers in turn, and reports ratios to the first.");
  compare_app.add_option("--server", servers, "NAME=URL of a server; give two or more")->required()->expected(2, 1000);
  compare_app.add_option("--server-pid", pids, "NAME=PID of a server's process, whose CPU and memory are reported");
  compare_app.add_option("--control-socket", control_sockets, "NAME=PATH of a tinkerd's control socket");
  compare_app.add_option("--rounds", comparison.rounds, "times that each server has --num-requests to serve")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_sampling(compare_app, comparison.run);
  add_shape(compare_app, comparison.run.load.output_tokens, comparison.run.load.body);
  add_json(compare_app);

  auto words = with_command({argv + 1, argv + argc});
  if (!words) return complain(words.error());
  std::ranges::reverse(*words);
  try {
    app.parse(*words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  if (router_app.parsed()) return router(router_options, json);
  if (load_app.parsed()) return report(run_load(run), run.load.num_requests, json);
  if (compare_app.parsed()) {
    auto named = read_servers(servers, pids, control_sockets);
    if (!named) return complain(named.error());
    comparison.servers = std::move(*named);
    return compare(comparison, json);
  }
  if (all_app.count("--barrier") == 0) all.router.barrier = all.run.load.num_requests;
  return report(run_all(all), all.run.load.num_requests, json);
}
