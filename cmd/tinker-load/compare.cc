// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/compare.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <functional>

namespace tinker::load {
namespace {

constexpr auto kInvalid = base::Code::invalid_argument;

// Calls take(name, value) for a text "NAME=VALUE".
base::Result<void> split(const char* option, const std::string& text,
                         const std::function<base::Result<void>(const std::string&, const std::string&)>& take) {
  const std::size_t equals = text.find('=');
  const auto within = std::string(option) + " '" + text + "'";
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    return base::fail(kInvalid, within + ": expected NAME=VALUE, e.g. ours=http://127.0.0.1:8000");
  auto taken = take(text.substr(0, equals), text.substr(equals + 1));
  if (!taken) return tl::unexpected(base::within(within, taken.error()));
  return {};
}

base::Result<NamedServer*> find(std::vector<NamedServer>& servers, const std::string& name) {
  const auto found = std::ranges::find(servers, name, &NamedServer::name);
  if (found == servers.end()) return base::fail(kInvalid, "there is no --server of the name '" + name + "'");
  return &*found;
}

}  // namespace

base::Result<std::vector<NamedServer>> read_servers(const std::vector<std::string>& urls, const std::vector<std::string>& pids,
                                                    const std::vector<std::string>& control_sockets) {
  std::vector<NamedServer> servers;
  const auto add = [&](const std::string& name, const std::string& url) -> base::Result<void> {
    if (find(servers, name)) return base::fail(kInvalid, "a second server of that name; each needs its own");
    if (const auto address = read_url(url); !address) return tl::unexpected(address.error());
    servers.push_back({.name = name, .url = url, .control_socket = {}});
    return {};
  };
  const auto add_pid = [&](const std::string& name, const std::string& text) -> base::Result<void> {
    const auto server = find(servers, name);
    if (!server) return tl::unexpected(server.error());
    const char* end = text.data() + text.size();
    if (std::from_chars(text.data(), end, (*server)->pid).ptr != end || (*server)->pid <= 0)
      return base::fail(kInvalid, "expected the number of a process");
    return {};
  };
  const auto add_socket = [&](const std::string& name, const std::string& path) -> base::Result<void> {
    const auto server = find(servers, name);
    if (!server) return tl::unexpected(server.error());
    (*server)->control_socket = path;
    return {};
  };
  for (const std::string& text : urls) {
    if (auto done = split("--server", text, add); !done) return tl::unexpected(done.error());
  }
  for (const std::string& text : pids) {
    if (auto done = split("--server-pid", text, add_pid); !done) return tl::unexpected(done.error());
  }
  for (const std::string& text : control_sockets) {
    if (auto done = split("--control-socket", text, add_socket); !done) return tl::unexpected(done.error());
  }
  return servers;
}

base::Result<NamedOutcomes> run_compare(const CompareOptions& options) {
  NamedOutcomes outcomes;
  for (const NamedServer& server : options.servers) outcomes.emplace_back(server.name, RunOutcome{});
  for (std::size_t round = 0; round < options.rounds; ++round) {
    for (std::size_t turn = 0; turn < outcomes.size(); ++turn) {
      const std::size_t i = (round + turn) % outcomes.size();
      const NamedServer& server = options.servers[i];
      if (isatty(STDERR_FILENO) != 0)
        std::fprintf(stderr, "round %zu of %zu, %s\n", round + 1, options.rounds, server.name.c_str());
      RunOptions run = options.run;
      run.url = server.url;
      run.server_pid = server.pid;
      run.control_socket = server.control_socket;
      const auto outcome = run_load(run);
      if (!outcome) return tl::unexpected(base::within("server " + server.name, outcome.error()));
      outcomes[i].second.add(*outcome);
      if (outcome->stopped) return outcomes;
    }
  }
  return outcomes;
}

}  // namespace tinker::load
