// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "http/client_connection.h"

namespace tinker::forward {

// The raw bytes of vectors/vllm/NAME.http: a whole answer as it was read from the socket.
inline std::string capture(const std::string& name) {
  std::ifstream file(std::string(TINKER_VECTORS) + "/vllm/" + name + ".http", std::ios::binary);
  EXPECT_TRUE(file) << "no capture " << name;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// The same as the HTTP layer hands it over. Only for bodies with a length.
inline http::Answer captured_answer(const std::string& name) {
  const std::string bytes = capture(name);
  const std::size_t end = bytes.find("\r\n\r\n");
  http::Answer answer{.status = std::stoi(bytes.substr(9, 3))};
  std::istringstream lines(bytes.substr(0, end));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    if (line.ends_with('\r')) line.pop_back();
    const std::size_t colon = line.find(": ");
    answer.fields.add(line.substr(0, colon), line.substr(colon + 2));
  }
  answer.body.append(std::string_view(bytes).substr(end + 4));
  return answer;
}

}  // namespace tinker::forward
