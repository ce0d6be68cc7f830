// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/load.h"
#include "support/temporary_folder.h"

namespace tinker::config {

// A state directory of its own, which load_with() names, and environment variables that end with the test.
class ConfigTest : public ::testing::Test {
 protected:
  ~ConfigTest() override {
    for (const std::string& name : environment) unsetenv(name.c_str());
  }

  base::Result<std::optional<Printed>> load_with(std::vector<std::string> arguments) { return load_into(settings, arguments); }
  base::Result<std::optional<Printed>> load_into(Settings& into, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"tinkerd", "--state-dir", dir});
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return load(into, static_cast<int>(argv.size()), argv.data());
  }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder.file(name)) << text;
    return folder.file(name);
  }
  void set_environment(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    environment.push_back(name);
  }
  static std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  const test::TemporaryFolder folder;
  const std::string& dir = folder.path();
  std::vector<std::string> environment;
  Settings settings;
};

}  // namespace tinker::config
