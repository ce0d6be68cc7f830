// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace tinker::support {

// The captures and golden bytes of tests/vectors.
inline std::string read_vector(const std::filesystem::path& path) {
  std::ifstream file(std::filesystem::path(TINKER_VECTORS) / path, std::ios::binary);
  if (!file) throw std::runtime_error("no vector " + path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The files of a folder of tests/vectors with an ending, relative to it, in order.
inline std::vector<std::filesystem::path> list_vectors(const std::string& folder, const std::string& ending) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(TINKER_VECTORS) / folder)) {
    if (entry.path().extension() == ending) paths.push_back(std::filesystem::relative(entry.path(), TINKER_VECTORS));
  }
  std::ranges::sort(paths);
  return paths;
}

// What stands behind the head of a captured HTTP answer with a length.
inline std::string_view body_of(std::string_view http) {
  const std::size_t head = http.find("\r\n\r\n");
  return head == std::string_view::npos ? std::string_view{} : http.substr(head + 4);
}

inline base::Buffer buffer_of(std::string_view bytes) {
  base::Buffer buffer;
  buffer.append(bytes);
  return buffer;
}

}  // namespace tinker::support
