// SPDX-License-Identifier: Apache-2.0
#include "tinker-load/sdk_client.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "tinker-load/sdk_script.h"

namespace tinker::load {

base::Result<ClientProcess> run_sdk_client(const RunOptions& options) {
  rapidjson::StringBuffer orders;
  rapidjson::Writer<rapidjson::StringBuffer> json(orders);
  const auto text = [&](const char* name, std::string_view value) {
    json.Key(name);
    json.String(value.data(), static_cast<rapidjson::SizeType>(value.size()));
  };
  const auto number = [&](const char* name, std::size_t value) {
    json.Key(name);
    json.Uint64(value);
  };
  json.StartObject();
  text("base_model", options.load.base_model);
  text("body", options.load.body == Body::minimal ? "minimal" : "full");
  number("num_requests", options.load.num_requests);
  number("max_outstanding", options.load.most_outstanding());
  number("prompt_tokens", options.load.prompt_tokens);
  number("output_tokens", options.load.output_tokens);
  number("num_samples", options.load.num_samples);
  json.EndObject();
  return run_client({options.sdk_python, "-B", "-W", "ignore", "-c", kSdkScript},
                    {"TINKER_BASE_URL=" + options.url, "TINKER_API_KEY=tml-load", "TINKER_TELEMETRY=0"},
                    std::string(orders.GetString(), orders.GetSize()) + "\n");
}

}  // namespace tinker::load
