// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/setting.h"

namespace tinker::config {

// Every setting of tinkerd, once (lib/README.md, "Said once"). From a member come the flag, the key of tinkerd.toml, the
// environment variable, the range check, the error text, --help, the manual's table and `tinkerctl config`. The names are the
// peer's where it has the setting, so that its scripts work (server-contract.md §6).
//
// Owned by  Daemon, for its whole life; handed to rooms by reference.
// Thread    live settings are read from any thread and set from one; the others do not change after the start.
struct Settings {
  Registry all;  // filled by the members below, in the order in which the manual shows them

  TextSetting host{
      all,
      {.name = "host",
       .fallback = "127.0.0.1",
       .help = "Numeric address to listen on; 0.0.0.0 for all. Keys are not checked, so whoever reaches it can sample.",
       .value = "ADDRESS"}};
  WholeSetting port{
      all, {.name = "port", .fallback = 8000, .least = 0, .most = 65535, .help = "TCP port to listen on; 0 takes a free one."}};
  WholeSetting workers{all,
                       {.name = "workers",
                        .fallback = 0,
                        .least = 0,
                        .most = 256,
                        .unit = "threads",
                        .help = "Event loops, each with its listener, its limit on open files and its share of the upstream "
                                "connections; 0 takes as many as there are processors."}};
  TextSetting base_model{
      all, {.name = "base_model", .help = "Name of the model that the upstream serves; required.", .value = "NAME"}};
  ListSetting upstream{all,
                       {.name = "upstream",
                        .help = "Base URL of the vLLM router, http://HOST:PORT; may be repeated. Without it, the URL that the "
                                "engine publishes in the database.",
                        .value = "URL"}};
  TextSetting database_url{all,
                           {.name = "database_url",
                            .help = "Database that is shared with the engine, sqlite:////ABSOLUTE or sqlite:///RELATIVE; "
                                    "tinker.db in the state directory when empty.",
                            .value = "URL",
                            .also_env = {"SKYRL_DATABASE_URL"}}};
  TextSetting state_dir{all,
                        {.name = "state_dir",
                         .fallback = "/var/lib/tinkerd",
                         .help = "Directory that holds all that the daemon writes; created when absent.",
                         .value = "DIRECTORY"}};
  TextSetting control_socket{all,
                             {.name = "control_socket",
                              .fallback = "/run/tinkerd/control.sock",
                              .help = "Unix socket that tinkerctl speaks to; the daemon's group may use it.",
                              .value = "PATH"}};
  TextSetting access_log{
      all,
      {.name = "access_log",
       .help = "File of the access log, a line a request; - is standard output, empty is none. Reopened on SIGUSR1.",
       .value = "FILE"}};
  TextSetting log_level{all,
                        {.name = "log_level",
                         .fallback = "info",
                         .choices = {"debug", "info", "warn", "error"},
                         .help = "Least severity of the diagnostics on standard error.",
                         .value = "LEVEL"}};

  WholeSetting sample_max_concurrent_requests{
      all,
      {.name = "sample_max_concurrent_requests",
       .fallback = 2000,
       .least = 1,
       .most = 1'000'000,
       .unit = "samples",
       .change = Change::live,
       .help = "Samples that an SDK client keeps in flight, told to it by client/config; each holds a connection while it "
               "waits. Clients that poll retrieve_futures heed no limit."}};
  SwitchSetting retrieve_futures{
      all,
      {.name = "retrieve_futures",
       .fallback = true,
       .change = Change::live,
       .help = "Whether client/config has SDK 0.27 and later wait with one retrieve_futures poll for all samples of a client, "
               "instead of one connection a sample."}};
  WholeSetting max_outstanding{
      all,
      {.name = "max_outstanding",
       .fallback = 1'000'000,
       .least = 1,
       .most = 100'000'000,
       .unit = "samples",
       .change = Change::live,
       .help = "Most samples that are held at once, in any state; asample is answered 429 beyond, which the SDK repeats."}};
  SecondsSetting poll_hold_sec{
      all,
      {.name = "poll_hold_sec",
       .fallback = 30,
       .least = 0.1,
       .most = 44,
       .change = Change::live,
       .help = "Longest wait of a poll before it is answered without a result; below the SDK's 45 s."}};
  WholeSetting metadata_only_bytes{
      all,
      {.name = "metadata_only_bytes",
       .fallback = 1 << 20,
       .least = 0,
       .most = std::int64_t{1} << 40,
       .unit = "bytes",
       .change = Change::live,
       .help = "Results above this size are announced first, to clients that allow it, and fetched when the client has room."}};
  SecondsSetting external_future_completed_ttl_sec{
      all,
      {.name = "external_future_completed_ttl_sec",
       .fallback = 3600,
       .least = 1,
       .most = 1e9,
       .change = Change::live,
       .help = "How long a result is kept that nobody fetches; long, for a client that is short of memory does not poll."}};
  SecondsSetting external_future_retrieved_ttl_sec{
      all,
      {.name = "external_future_retrieved_ttl_sec",
       .fallback = 300,
       .least = 1,
       .most = 1e9,
       .change = Change::live,
       .help = "How long a result is kept after its last proven delivery, for a client that fetches it again."}};

  WholeSetting forwarding_inference_max_connections{
      all,
      {.name = "forwarding_inference_max_connections",
       .fallback = 2048,
       .least = 1,
       .most = 1'000'000,
       .unit = "connections",
       .change = Change::live,
       .help = "Most connections to the upstream, so most samples in flight there; others wait in a queue that is fair between "
               "sampling sessions.",
       .unlimited = "None"}};
  SecondsSetting forwarding_inference_timeout_sec{
      all,
      {.name = "forwarding_inference_timeout_sec",
       .fallback = 2048,
       .least = 0.1,
       .most = 1e6,
       .change = Change::live,
       .help = "Longest silence of the upstream while an answer is due; there is no limit on the whole.",
       .also_env = {"SKYRL_FORWARDING_INFERENCE_TIMEOUT_SEC"}}};
  SecondsSetting forwarding_connect_timeout_sec{all,
                                                {.name = "forwarding_connect_timeout_sec",
                                                 .fallback = 60,
                                                 .least = 0.1,
                                                 .most = 1e6,
                                                 .change = Change::live,
                                                 .help = "Longest wait for a connection to the upstream."}};
  SecondsSetting upstream_idle_sec{
      all,
      {.name = "upstream_idle_sec",
       .fallback = 2,
       .least = 0,
       .most = 1e6,
       .change = Change::live,
       .help = "Idle upstream connections are closed after this time; below the upstream's own limit, which is 5 s in vLLM."}};

  WholeSetting max_body_bytes{all,
                              {.name = "max_body_bytes",
                               .fallback = 64 << 20,
                               .least = 1024,
                               .most = std::int64_t{1} << 40,
                               .unit = "bytes",
                               .change = Change::live,
                               .help = "Largest body of an asample; 413 beyond."}};
  SecondsSetting idle_timeout_sec{
      all,
      {.name = "idle_timeout_sec",
       .fallback = 120,
       .least = 91,
       .most = 1e6,
       .change = Change::live,
       .help = "Idle client connections are closed after this time; above the 90 s that SDKs keep them."}};
  SecondsSetting request_timeout_sec{
      all,
      {.name = "request_timeout_sec",
       .fallback = 30,
       .least = 1,
       .most = 1e6,
       .change = Change::live,
       .help = "Longest wait for a request's first byte, for its whole head, and for progress of its body."}};
  SecondsSetting write_timeout_sec{
      all,
      {.name = "write_timeout_sec",
       .fallback = 60,
       .least = 1,
       .most = 1e6,
       .change = Change::live,
       .help = "A client that takes nothing of an answer for this time is disconnected; the result stays."}};
};

}  // namespace tinker::config
