// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "config/overrides.h"
#include "config/render.h"
#include "config/toml_file.h"

namespace tinker::config {
namespace {

using base::Code;
using base::fail;

constexpr const char* kDefaultFile = "/etc/tinkerd/tinkerd.toml";

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// What stands on the command line, before any of it is believed.
struct Flags {
  std::optional<std::string> config_file;
  std::map<AnySetting*, std::vector<std::string>> values;
  std::optional<Printed> printed;
};

// The first argument that is no flag of ours, with the flag that may have been meant.
tl::unexpected<base::Error> refuse_argument(const Settings& settings, std::string_view argument) {
  if (!argument.starts_with("--"))
    return fail(Code::invalid_argument, "'" + std::string(argument) + "' is no flag (see tinkerd --help)");
  const AnySetting* nearest = settings.all.find(settings.all.nearest(argument.substr(2)));
  return fail(Code::invalid_argument, "there is no flag " + std::string(argument) +
                                          (nearest == nullptr ? "" : "; did you mean " + nearest->flag() + "?") +
                                          " (see tinkerd --help)");
}

// --name=value in two words: CLI11 takes the word after "--name=" for the value when there is none.
std::vector<std::string> words_of(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    words.emplace_back(word.substr(0, equals));
    if (equals != std::string_view::npos) words.emplace_back(word.substr(equals + 1));
  }
  return words;
}

base::Result<Flags> read_flags(const Settings& settings, int argc, const char* const* argv) {
  Flags flags;
  CLI::App app;
  app.allow_extras();
  app.set_version_flag("--version", std::string("tinkerd ") + TINKER_VERSION);
  app.add_option("--config", flags.config_file)->type_name("FILE");
  const CLI::Option* example = app.add_flag("--example-config");
  for (AnySetting* setting : settings.all.list()) {
    const std::string other = "--" + setting->about().name;
    const std::string names = setting->flag() == other ? other : setting->flag() + "," + other;
    CLI::Option* option = app.add_option(names, flags.values[setting]);
    option->type_name(setting->about().value)->allow_extra_args(false);
    if (!setting->is_list()) option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  std::vector<std::string> words = words_of(argc, argv);
  std::ranges::reverse(words);  // as CLI11 wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    flags.printed = Printed{help_text(settings)};
    return flags;
  } catch (const CLI::CallForVersion&) {
    flags.printed = Printed{std::string("tinkerd ") + TINKER_VERSION + "\n"};
    return flags;
  } catch (const CLI::ParseError& error) {
    return fail(Code::invalid_argument, std::string(error.what()) + " (see tinkerd --help)");
  }
  if (const auto strangers = app.remaining(); !strangers.empty()) return refuse_argument(settings, strangers.front());
  if (example->count() > 0) flags.printed = Printed{example_file(settings)};
  return flags;
}

base::Result<void> take(AnySetting& setting, const std::vector<std::string>& values, Source source, const std::string& where) {
  if (auto set = setting.set(values, source); !set) return tl::unexpected(base::within(where, set.error()));
  return {};
}

std::vector<std::string> words_of(const AnySetting& setting, const std::string& text) {
  if (!setting.is_list()) return {text};
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(std::move(word));
  return words;
}

// The peer's variable first: ours outranks it.
base::Result<void> take_environment(Settings& settings) {
  for (AnySetting* setting : settings.all.list()) {
    std::vector<std::string> names = setting->about().also_env;
    names.push_back(setting->environment());
    for (const std::string& name : names) {
      const char* value = std::getenv(name.c_str());
      if (value == nullptr) continue;
      if (auto taken = take(*setting, words_of(*setting, value), Source::environment, "environment variable " + name); !taken)
        return taken;
    }
  }
  return {};
}

base::Result<void> take_flags(const Flags& flags) {
  for (const auto& [setting, values] : flags.values) {
    if (values.empty()) continue;
    if (auto taken = take(*setting, values, Source::flag, setting->flag()); !taken) return taken;
  }
  return {};
}

base::Result<void> take_file(const Settings& settings, const std::string& path) {
  const auto entries = read_toml(settings, path);
  if (!entries) return tl::unexpected(entries.error());
  for (const Entry& entry : *entries) {
    if (auto taken = take(*entry.setting, entry.values, Source::file, entry.where); !taken) return taken;
  }
  return {};
}

// Live settings only, which is all that `tinkerctl config set` writes: state_dir, above all, cannot stand in itself.
base::Result<void> take_overrides(const Settings& settings, const std::string& path) {
  const auto entries = read_toml(settings, path);
  if (!entries) return tl::unexpected(entries.error());
  for (const auto& [setting, values, where] : *entries) {
    if (setting->about().change == Change::start) {
      return fail(Code::invalid_argument,
                  where + ": " + setting->about().name + " is read at the start only: put it into the configuration file");
    }
    if (auto taken = take(*setting, values, Source::override_file, where); !taken) return taken;
  }
  return {};
}

}  // namespace

base::Result<std::optional<Printed>> load(Settings& settings, int argc, const char* const* argv) {
  auto flags = read_flags(settings, argc, argv);
  if (!flags) return tl::unexpected(flags.error());
  if (flags->printed) return std::move(flags->printed);

  if (!flags->config_file && exists(kDefaultFile)) flags->config_file = kDefaultFile;
  if (flags->config_file) {
    if (auto taken = take_file(settings, *flags->config_file); !taken) return tl::unexpected(taken.error());
  }
  if (auto taken = take_environment(settings); !taken) return tl::unexpected(taken.error());
  if (auto taken = take_flags(*flags); !taken) return tl::unexpected(taken.error());
  // Last, for only now it is known which directory is the state directory.
  if (const std::string path = overrides_path(settings); exists(path)) {
    if (auto taken = take_overrides(settings, path); !taken) return tl::unexpected(taken.error());
  }
  return std::nullopt;
}

}  // namespace tinker::config
