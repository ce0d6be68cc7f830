// SPDX-License-Identifier: Apache-2.0
#include "forward/verdict.h"

#include "base/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "forward/request_head.h"

namespace tinker::forward {
namespace {

constexpr std::size_t kRefusalBytes = 1024;
constexpr std::size_t kNotJsonBytes = 512;
constexpr std::size_t kFieldBytes = 128;

// Refusals with 400 whose cause is not the user's request.
constexpr std::array<std::string_view, 2> kServersFault = {
    "Out of range float values",      // the model gave NaN, which vLLM cannot write as JSON (cases.md U7)
    "Invalid HTTP request received",  // uvicorn did not understand our head
};

Verdict failed(Next next, Blame blame, std::string text) { return {next, {}, {blame, std::move(text)}}; }
Verdict final_fault_of_server(std::string text) { return failed(Next::fail, Blame::server, std::move(text)); }

std::string returned(int status) { return "vLLM /v1/completions returned " + std::to_string(status); }

std::string refusal(const http::Answer& answer) {
  return returned(answer.status) + ": " + base::valid_utf8(answer.body.view(), kRefusalBytes);
}

Blame blame_of_refusal(const http::Answer& answer) {
  const bool by_content = answer.status == 400 || answer.status == 413 || answer.status == 422;
  const bool servers = std::any_of(kServersFault.begin(), kServersFault.end(), [&](std::string_view words) {
    return answer.body.view().find(words) != std::string_view::npos;
  });
  return by_content && !servers ? Blame::user : Blame::server;
}

bool is_json(std::string_view text) {
  rapidjson::MemoryStream stream(text.data(), text.size());
  rapidjson::BaseReaderHandler<> ignore;
  return !rapidjson::Reader{}.Parse<rapidjson::kParseIterativeFlag>(stream, ignore).IsError();
}

Verdict judge_success(const http::Answer& answer, const codec::CompletionWants& wants) {
  auto completion = codec::decode_completion(answer.body, wants);
  if (!completion) {
    if (!is_json(answer.body.view())) {
      const std::string type = base::valid_utf8(answer.fields.find("content-type").value_or(""), kFieldBytes);
      return final_fault_of_server("vLLM /v1/completions returned non-JSON (" + std::to_string(answer.status) +
                                   ", content-type='" + type + "'): " + base::valid_utf8(answer.body.view(), kNotJsonBytes));
    }
    return final_fault_of_server(returned(answer.status) + " with a body that is no completion: " + completion.error().text);
  }
  if (completion->aborted) {
    const std::string tokens = std::to_string(completion->tokens);
    return {
        Next::regenerate,
        *std::move(completion),
        {Blame::server, "vLLM aborted the generation (finish_reason 'abort' after " + tokens +
                            " tokens) and did so again when it was asked once more; it is shutting down or out of room, sample "
                            "again when it is back"}};
  }
  return {Next::deliver, *std::move(completion), {}};
}

std::string redirection(const http::Answer& answer, const UpstreamUrl& url) {
  const std::string where = base::valid_utf8(answer.fields.find("location").value_or("nowhere"), kFieldBytes);
  return returned(answer.status) + ", a redirect to " + where +
         ", which is not followed; give tinkerd the final base URL instead of " + url.text();
}

std::string seconds_text(base::Seconds seconds) {
  std::string text = std::to_string(seconds.count());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

Verdict judge(const http::Answer& answer, const codec::CompletionWants& wants, const UpstreamUrl& url) {
  if (answer.status >= 500) return failed(Next::retry, Blame::server, refusal(answer));
  if (answer.status >= 400) return failed(Next::fail, blame_of_refusal(answer), refusal(answer));
  if (answer.status >= 300) return final_fault_of_server(redirection(answer, url));
  return judge_success(answer, wants);
}

Verdict judge(const http::Broken& broken, const UpstreamUrl& url, base::Seconds read) {
  using http::Breakage;
  const std::string where = url.text() + std::string(kCompletionsPath);
  switch (broken.kind) {
    case Breakage::connect_failed:
    case Breakage::connect_timed_out:
      return failed(Next::retry, Blame::server,
                    "cannot reach vLLM at " + where + ": " + broken.text + " (tried twice; is the router running?)");
    case Breakage::write_failed:
    case Breakage::closed_early:
      return failed(broken.reused ? Next::reconnect : Next::fail, Blame::server,
                    "Server disconnected: " + where + " closed before it answered (" + broken.text + ")");
    case Breakage::cut_short:
      return final_fault_of_server("Server disconnected: " + where + " closed in the middle of its answer (" + broken.text +
                                   ")");
    case Breakage::read_timed_out:
      return final_fault_of_server("the request to " + where + " was given up: " + broken.text +
                                   " (the time-out between bytes is " + seconds_text(read) +
                                   " s; if generations may take longer, raise forwarding_inference_timeout_sec: "
                                   "TINKERD_FORWARDING_INFERENCE_TIMEOUT_SEC, "
                                   "or without a restart `tinkerctl config set forwarding_inference_timeout_sec SECONDS`)");
    case Breakage::malformed:
      return final_fault_of_server("the answer of " + where + " is not HTTP: " + broken.text);
    case Breakage::too_large:
      return final_fault_of_server("the answer of " + where + " is too large: " + broken.text);
  }
  return final_fault_of_server(broken.text);
}

}  // namespace tinker::forward
