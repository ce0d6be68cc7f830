// SPDX-License-Identifier: Apache-2.0
#include <event2/event.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <map>

#include "loop/open_files.h"
#include "tinker-load/client.h"
#include "tinker-load/report.h"
#include "tinker-load/router.h"

namespace {

using namespace tinker;
using namespace tinker::load;

const std::map<std::string, VllmMode> kModes{
    {"instant", VllmMode::instant}, {"latency", VllmMode::latency}, {"barrier", VllmMode::barrier}};
const std::map<std::string, Body> kBodies{{"minimal", Body::minimal}, {"full", Body::full}};

constexpr std::size_t kOtherFiles = 64;  // that are no samples' connections

int complain(const std::string& text, int code) {
  std::fprintf(stderr, "tinker-load: %s\n", text.c_str());
  return code;
}

// SIGINT and SIGTERM end the loop.
class StopSignals {
 public:
  explicit StopSignals(loop::EventLoop& loop) {
    for (const int signal : {SIGINT, SIGTERM}) {
      events_.emplace_back(evsignal_new(
          loop.base(), signal, [](evutil_socket_t, short, void* its_loop) { static_cast<loop::EventLoop*>(its_loop)->stop(); },
          &loop));
      event_add(events_.back().get(), nullptr);
    }
  }

 private:
  std::vector<loop::EventPtr> events_;
};

int run_router(const RouterOptions& options, bool json) {
  loop::raise_open_files();
  loop::EventLoop loop("router");
  auto router = Router::listen(loop, options);
  if (!router) return complain(router.error().text, 1);
  const StopSignals signals(loop);
  std::printf("listening on http://%s:%u\n", options.host.c_str(), (*router)->port());
  std::fflush(stdout);
  loop.run();
  std::fputs((json ? router_json((*router)->counts()) : router_text((*router)->counts())).c_str(), stdout);
  return 0;
}

// "http://HOST:PORT"; false when it has another form.
bool read_url(std::string_view url, LoadOptions& options) {
  if (!url.starts_with("http://")) return false;
  url.remove_prefix(7);
  if (url.ends_with('/')) url.remove_suffix(1);
  const std::size_t colon = url.rfind(':');
  if (colon == std::string_view::npos) return false;
  options.host = url.substr(0, colon);
  const char* end = url.data() + url.size();
  const auto [stop, error] = std::from_chars(url.data() + colon + 1, end, options.port);
  return error == std::errc{} && stop == end;
}

int run_load(LoadOptions options, const std::string& url, int server_pid, bool json) {
  if (!read_url(url, options)) return complain("--url '" + url + "': expected http://HOST:PORT", 2);
  const auto server = http::SocketAddress::numeric(options.host, options.port);
  if (!server) return complain("--url: " + server.error().text, 2);
  const auto before = use_of(server_pid);
  if (server_pid != 0 && !before) return complain("--server-pid " + std::to_string(server_pid) + ": no such process", 2);
  // Each outstanding sample holds a connection while it is submitted or polled.
  const std::size_t files = loop::raise_open_files();
  const std::size_t most_outstanding = files - std::min(files / 2, kOtherFiles);
  if (options.max_outstanding > most_outstanding) {
    complain("--max-outstanding " + std::to_string(options.max_outstanding) + ": using " + std::to_string(most_outstanding) +
                 ", which the limit on open files allows",
             0);
    options.max_outstanding = most_outstanding;
  }

  loop::EventLoop loop("load");
  const StopSignals signals(loop);
  Client client(loop, *server, options, [&] { loop.stop(); });
  loop::Timer progress(loop, [&] {
    std::fprintf(stderr, "\r%zu of %zu done, %zu outstanding ", client.ended(), options.num_requests, client.outstanding());
    progress.after(base::Seconds{0.5});
  });
  if (isatty(STDERR_FILENO) != 0) progress.after(base::Seconds{0.5});
  const auto own_before = use_of(getpid());
  client.start();
  loop.run();
  if (isatty(STDERR_FILENO) != 0) std::fputc('\n', stderr);
  if (!client.fatal().empty()) return complain(client.fatal(), 1);

  auto used = use_of(server_pid);
  if (used && before) used->cpu_sec -= before->cpu_sec;
  const LoadReport report{client, used, use_of(getpid())->cpu_sec - own_before->cpu_sec};
  std::fputs((json ? report_json(report) : report_text(report)).c_str(), stdout);
  return client.counts().completed == options.num_requests ? 0 : 1;
}

// An option whose values have names.
template <class Value>
void add_choice(CLI::App& app, const char* option, Value& value, const std::map<std::string, Value>& names,
                const char* standard, const char* description) {
  app.add_option_function<std::string>(
         option, [&](const std::string& name) { value = names.at(name); }, description)
      ->check(CLI::IsMember(names))
      ->default_str(standard);
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app("Puts load on a Tinker server without a GPU: a simulated vLLM router, and a client that checks every result.",
               "tinker-load");
  app.set_version_flag("--version", std::string("tinker-load ") + TINKER_VERSION);
  app.require_subcommand(1);
  bool json = false;

  RouterOptions router;
  CLI::App& router_app =
      *app.add_subcommand("router", "A vLLM router that answers POST /v1/completions by itself, until SIGINT or SIGTERM.");
  router_app.add_option("--host", router.host, "numeric address to listen on")->capture_default_str();
  router_app.add_option("--port", router.port, "port to listen on; 0 takes a free one")->capture_default_str();
  add_choice(router_app, "--vllm-mode,--mode", router.mode, kModes, "instant",
             "instant: at once; latency: --max-num-seqs at a time, --gen-seconds each; barrier: all at once");
  router_app.add_option("--max-num-seqs", router.max_num_seqs, "latency: generations at a time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  router_app.add_option("--gen-seconds", router.gen_seconds, "latency: time of a generation")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  router_app.add_option("--barrier", router.barrier, "barrier: answer when so many have come; 0: only after --hold-seconds")
      ->capture_default_str();
  router_app.add_option("--hold-seconds", router.hold_seconds, "barrier: answer so long after the first request at the latest")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  router_app.add_option("--output-tokens", router.output_tokens, "tokens of each choice")->capture_default_str();
  add_choice(router_app, "--body", router.body, kBodies, "minimal", "minimal: what a forwarder needs; full: as vLLM writes it");
  router_app.add_flag("--json", json, "print the summary as JSON");

  LoadOptions load;
  std::string url = "http://127.0.0.1:8000";
  int server_pid = 0;
  std::string poll = "single";
  CLI::App& load_app = *app.add_subcommand(
      "load", "Samples through a Tinker server whose upstream is `tinker-load router`, and checks every result.");
  load_app.add_option("--url", url, "the server, http://HOST:PORT with a numeric host")->capture_default_str();
  load_app.add_option("--base-model", load.base_model, "model to sample from")->capture_default_str();
  load_app.add_option("--num-requests", load.num_requests, "samples in all")->check(CLI::PositiveNumber)->capture_default_str();
  load_app
      .add_option("--max-outstanding", load.max_outstanding,
                  "samples in flight, each with a connection; at most what the limit on open files allows")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  load_app.add_option("--submit-concurrency", load.submit_concurrency, "asample requests at a time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  load_app.add_option("--prompt-tokens", load.prompt_tokens, "tokens of each prompt, at least 4")
      ->check(CLI::Range(kKeyTokens, std::size_t{1} << 20))
      ->capture_default_str();
  load_app.add_option("--output-tokens", load.output_tokens, "tokens of each sequence; as the router has it")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  load_app.add_option("--num-samples", load.num_samples, "sequences of each sample")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_choice(load_app, "--body", load.body, kBodies, "minimal", "how the router writes its bodies; as the router has it");
  load_app.add_option("--poll", poll, "single: a retrieve_future a sample, held until its result is there")
      ->check(CLI::IsMember({"single"}))
      ->capture_default_str();
  load_app.add_option("--poll-timeout", load.poll_timeout_sec, "longest wait of a poll, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  load_app.add_option("--server-pid", server_pid, "process whose CPU and memory are reported; on this machine");
  load_app.add_flag("--json", json, "print the report as JSON");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (router_app.parsed()) return run_router(router, json);
  return run_load(load, url, server_pid, json);
}
