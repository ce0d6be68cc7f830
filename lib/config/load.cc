// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

namespace tinker::config {
namespace {

using base::Code;
using base::fail;

constexpr const char* kDefaultFile = "/etc/tinkerd/tinkerd.toml";
constexpr const char* kOverridesName = "overrides.toml";

std::string quoted(const std::string& text) {
  std::string toml = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') toml += '\\';
    toml += c;
  }
  return toml + "\"";
}

std::string toml_value(const AnySetting& setting, const std::vector<std::string>& values) {
  if (setting.is_list()) {
    std::string list = "[";
    for (const std::string& value : values) list += (list.size() > 1 ? ", " : "") + quoted(value);
    return list + "]";
  }
  return setting.is_text() ? quoted(values.front()) : values.front();
}

base::Result<void> apply(Settings& settings, const std::string& name, const std::vector<std::string>& values, Source source,
                         const std::string& where) {
  const auto setting = find(settings, name);
  if (!setting) return tl::unexpected(base::within(where, setting.error()));
  if (auto set = (*setting)->set(values, source); !set) return tl::unexpected(base::within(where, set.error()));
  return {};
}

// The keys of a TOML file with their values. A key in a section is refused: there are none.
base::Result<std::vector<CLI::ConfigItem>> read_toml(const std::string& path) {
  std::ifstream file(path);
  if (!file)
    return fail(Code::not_found,
                "cannot open " + path + ": " + std::strerror(errno) + " (is the path right, and may this user read it?)");
  try {
    std::vector<CLI::ConfigItem> items = CLI::ConfigTOML().from_config(file);
    for (const CLI::ConfigItem& item : items) {
      if (!item.parents.empty())
        return fail(Code::invalid_argument,
                    path + ": section [" + item.parents.front() + "]: settings stand at the top, without sections");
    }
    return items;
  } catch (const std::exception& error) {
    return fail(Code::invalid_argument, path + ": " + error.what());
  }
}

base::Result<void> read_file(Settings& settings, const std::string& path, Source source) {
  const auto items = read_toml(path);
  if (!items) return tl::unexpected(items.error());
  for (const CLI::ConfigItem& item : *items) {
    if (auto applied = apply(settings, item.name, item.inputs, source, path); !applied) return applied;
  }
  return {};
}

std::vector<std::string> words_of(const AnySetting& setting, const std::string& text) {
  if (!setting.is_list()) return {text};
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

base::Result<void> read_environment(Settings& settings) {
  for (AnySetting* setting : settings.all.list()) {
    std::vector<std::string> names = setting->about().also_env;
    names.push_back(setting->environment());
    for (const std::string& name : names) {
      const char* value = std::getenv(name.c_str());
      if (value == nullptr) continue;
      if (auto applied = apply(settings, setting->about().name, words_of(*setting, value), Source::environment,
                               "environment variable " + name);
          !applied) {
        return applied;
      }
    }
  }
  return {};
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string overrides_path(const Settings& settings) { return settings.state_dir.get() + "/" + kOverridesName; }

// A file that is there whole or not at all, also after a power cut.
base::Result<void> write_whole(const std::string& path, const std::string& text) {
  const auto failed = [&](const char* what) {
    return fail(Code::unavailable, std::string("cannot ") + what + " " + path + ": " + std::strerror(errno) +
                                       " (the value holds until the next restart only)");
  };
  const std::string fresh = path + ".new";
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  if (fd < 0) return failed("write");
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(fd) == 0;
  close(fd);
  if (!written) return failed("write");
  if (rename(fresh.c_str(), path.c_str()) != 0) return failed("replace");
  return {};
}

}  // namespace

base::Result<AnySetting*> find(const Settings& settings, std::string_view name) {
  if (AnySetting* setting = settings.all.find(name)) return setting;
  const std::string nearest = settings.all.nearest(name);
  return fail(Code::not_found,
              "there is no setting '" + std::string(name) + "'" + (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
}

base::Result<std::optional<Printed>> load(Settings& settings, int argc, const char* const* argv) {
  CLI::App app("Serves the sampling side of the Tinker API and forwards samples to a vLLM router.", "tinkerd");
  app.set_version_flag("--version", std::string("tinkerd ") + TINKER_VERSION);
  app.footer(
      "Each setting is also a key of the file and an environment variable, TINKERD_ and its name in capitals.\nSee tinkerd(8); "
      "`tinkerctl config list` shows the values in force.");
  std::string file;
  CLI::Option* file_option =
      app.add_option("--config", file, std::string("TOML file of settings; ") + kDefaultFile + " when it exists")
          ->type_name("FILE");
  std::map<AnySetting*, std::vector<std::string>> flags;
  for (AnySetting* setting : settings.all.list()) {
    const std::string other = "--" + setting->about().name;
    const std::string names = setting->flag() == other ? other : setting->flag() + "," + other;
    CLI::Option* option = app.add_option(names, flags[setting], setting->about().help);
    option->type_name(setting->range_text() + (setting->about().unit.empty() ? "" : " " + setting->about().unit))
        ->allow_extra_args(false);
    if (!setting->is_list()) option->expected(1);
    if (!setting->fallback_text().empty()) option->default_str(setting->fallback_text());
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return Printed{app.help()};
  } catch (const CLI::CallForVersion&) {
    return Printed{std::string("tinkerd ") + TINKER_VERSION + "\n"};
  } catch (const CLI::ParseError& error) {
    return fail(Code::invalid_argument, std::string(error.what()) + " (see tinkerd --help)");
  }

  // The state directory says where the overrides are, so the strong sources are read before them and again after.
  const auto read_strong = [&]() -> base::Result<void> {
    if (auto read = read_environment(settings); !read) return read;
    for (auto& [setting, values] : flags) {
      if (values.empty()) continue;
      if (auto applied = apply(settings, setting->about().name, values, Source::flag, setting->flag()); !applied)
        return applied;
    }
    return {};
  };
  if (file_option->count() == 0 && exists(kDefaultFile)) file = kDefaultFile;
  if (!file.empty()) {
    if (auto read = read_file(settings, file, Source::file); !read) return tl::unexpected(read.error());
  }
  if (auto read = read_strong(); !read) return tl::unexpected(read.error());
  if (exists(overrides_path(settings))) {
    if (auto read = read_file(settings, overrides_path(settings), Source::override_file); !read)
      return tl::unexpected(read.error());
    if (auto read = read_strong(); !read) return tl::unexpected(read.error());
  }
  return std::nullopt;
}

base::Result<AnySetting*> set_live(Settings& settings, std::string_view name, const std::string& value) {
  const auto found = find(settings, name);
  if (!found) return found;
  AnySetting* setting = *found;
  switch (setting->about().change) {
    case Change::start:
      return fail(Code::invalid_argument,
                  setting->about().name +
                      " is read at the start only: change it in the file or on the command line, and restart tinkerd");
    case Change::live:
      if (auto set = setting->set({value}, Source::live); !set) return tl::unexpected(set.error());
      return setting;
  }
  __builtin_unreachable();
}

base::Result<void> persist(const Settings& settings, const AnySetting& setting) {
  const std::string path = overrides_path(settings);
  std::map<std::string, std::string> lines;
  if (exists(path)) {
    const auto items = read_toml(path);
    if (!items) return tl::unexpected(items.error());
    for (const CLI::ConfigItem& item : *items) {
      if (const AnySetting* known = settings.all.find(item.name)) lines[known->about().name] = toml_value(*known, item.inputs);
    }
  }
  lines[setting.about().name] = toml_value(setting, {setting.text()});
  std::string text =
      "# Written by `tinkerctl config set --persist`; stronger than the configuration file, weaker than environment and "
      "flags.\n";
  for (const auto& [name, value] : lines) text += name + " = " + value + "\n";
  return write_whole(path, text);
}

std::string sample_file(const Settings& settings) {
  std::string text = "# Settings of tinkerd. What is commented out stands at its default.\n";
  for (const AnySetting* setting : settings.all.list()) {
    const About& about = setting->about();
    text += "\n# " + about.help + "\n# " + setting->range_text() + (about.unit.empty() ? "" : " " + about.unit) +
            (about.change == Change::live ? "; live\n" : "; needs a restart\n");
    const std::vector<std::string> fallback =
        setting->is_list() ? std::vector<std::string>{} : std::vector{setting->fallback_text()};
    text += "#" + about.name + " = " + toml_value(*setting, fallback) + "\n";
  }
  return text;
}

}  // namespace tinker::config
