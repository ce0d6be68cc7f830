// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/arguments.h"

#include <algorithm>
#include <map>

namespace tinker::load {
namespace {

const std::map<std::string, VllmMode> kModes{
    {"instant", VllmMode::instant}, {"latency", VllmMode::latency}, {"barrier", VllmMode::barrier}};
const std::map<std::string, Body> kBodies{{"minimal", Body::minimal}, {"full", Body::full}};
const std::map<std::string, Poll> kPolls{{"single", Poll::single}, {"multi", Poll::multi}};
const std::map<std::string, ClientKind> kClients{
    {"native", ClientKind::native}, {"raw", ClientKind::native}, {"sdk", ClientKind::sdk}};
const std::map<std::string, std::string> kCommandsOfRoles{{"all", "all"}, {"load", "load"}, {"vllm", "router"}};

// An option whose values have names.
template <class Value>
void add_choice(CLI::App& command, const char* option, Value& value, const std::map<std::string, Value>& names,
                const char* standard, const char* description) {
  command
      .add_option_function<std::string>(
          option, [&value, &names](const std::string& name) { value = names.at(name); }, description)
      ->check(CLI::IsMember(names))
      ->default_str(standard);
}

}  // namespace

void add_shape(CLI::App& command, std::size_t& output_tokens, Body& body) {
  command.add_option("--output-tokens,--max-tokens", output_tokens, "tokens of each sequence; router and client must agree")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_choice(command, "--body", body, kBodies, "minimal",
             "minimal: what a forwarder needs; full: as vLLM writes it; router and client must agree");
}

void add_generation(CLI::App& command, RouterOptions& options) {
  add_choice(command, "--vllm-mode,--mode", options.mode, kModes, "instant",
             "instant: at once; latency: --max-num-seqs at a time, --gen-seconds each; barrier: all at once");
  command.add_option("--max-num-seqs", options.max_num_seqs, "latency: generations at a time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--gen-seconds", options.gen_seconds, "latency: time of a generation")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--barrier,--barrier-requests", options.barrier,
                  "barrier: opens when so many have come, and stays open; 0: only after --hold-seconds; `all`: --num-requests")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command
      .add_option("--hold-seconds,--barrier-timeout", options.hold_seconds,
                  "barrier: opens so long after the first request at the latest")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void add_sampling(CLI::App& command, RunOptions& options) {
  LoadOptions& load = options.load;
  command.add_option("--base-model", load.base_model, "model to sample from")->capture_default_str();
  command.add_option("--num-requests", load.num_requests, "samples in all")->check(CLI::PositiveNumber)->capture_default_str();
  command
      .add_option("--max-outstanding", load.max_outstanding,
                  "samples in flight, each with a connection unless --poll is multi; 0: all")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--submit-concurrency", load.submit_concurrency, "asample requests at a time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--prompt-tokens", load.prompt_tokens, "tokens of each prompt, at least 4")
      ->check(CLI::Range(kKeyTokens, std::size_t{1} << 20))
      ->capture_default_str();
  command.add_option("--num-samples", load.num_samples, "sequences of each sample")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  add_choice(command, "--client", options.client, kClients, "native",
             "native or raw: our own, in several processes; sdk: the public Tinker SDK of --sdk-python");
  command
      .add_option("--client-processes", options.processes,
                  "native: processes, each from a loopback address of its own; 0: as many as connections need")
      ->check(CLI::Range(0, 250))
      ->capture_default_str();
  command.add_option("--sdk-python", options.sdk_python, "sdk: a Python with the package tinker")->capture_default_str();
  add_choice(command, "--poll", load.poll, kPolls, "single",
             "native: single: a held retrieve_future a sample; multi: a held retrieve_futures for all of a process");
  command.add_option("--poll-timeout", load.poll_timeout_sec, "native: longest wait of a poll, in seconds")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

base::Result<std::vector<std::string>> with_command(std::vector<std::string> words) {
  static constexpr std::array<std::string_view, 4> kOfTheProgram{"--help", "-h", "--version", "--help-all"};
  if (words.empty() || !words.front().starts_with('-')) return words;
  if (std::ranges::find(kOfTheProgram, words.front()) != kOfTheProgram.end()) return words;
  std::string role = "all";
  const auto option =
      std::ranges::find_if(words, [](const auto& word) { return word == "--role" || word.starts_with("--role="); });
  if (option != words.end()) {
    const bool apart = *option == "--role" && option + 1 != words.end();
    role = apart ? *(option + 1) : option->substr(std::min(option->size(), std::string_view("--role=").size()));
    words.erase(option, option + (apart ? 2 : 1));
  }
  const auto command = kCommandsOfRoles.find(role);
  if (command == kCommandsOfRoles.end()) {
    return base::fail(base::Code::invalid_argument,
                      "--role '" + role + "': expected all, load or vllm; the server is a program of its own, tinkerd");
  }
  words.insert(words.begin(), command->second);
  return words;
}

}  // namespace tinker::load
