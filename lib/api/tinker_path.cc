// SPDX-License-Identifier: Apache-2.0
#include "api/tinker_path.h"

namespace tinker::api {

std::optional<SamplerPath> parse_sampler_path(std::string_view path) {
  constexpr std::string_view kScheme = "tinker://";
  constexpr std::string_view kKind = "sampler_weights/";
  if (!path.starts_with(kScheme)) return std::nullopt;
  path.remove_prefix(kScheme.size());
  path = path.substr(0, path.find_first_of("?#"));
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  std::string_view checkpoint = path.substr(slash + 1);
  if (checkpoint.starts_with(kKind)) checkpoint.remove_prefix(kKind.size());
  if (checkpoint.empty() || checkpoint.find('/') != std::string_view::npos) return std::nullopt;
  return SamplerPath{std::string(path.substr(0, slash)), std::string(checkpoint)};
}

}  // namespace tinker::api
