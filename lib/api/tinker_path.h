// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tinker::api {

// A path of sampler weights: tinker://MODEL/CHECKPOINT or tinker://MODEL/sampler_weights/CHECKPOINT; a query and a fragment are
// cut off (server-contract.md §1.3, path parsing).
struct SamplerPath {
  std::string model_id;
  std::string checkpoint_id;
};

// nullopt for any other form.
std::optional<SamplerPath> parse_sampler_path(std::string_view path);

}  // namespace tinker::api
