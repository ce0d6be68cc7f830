// SPDX-License-Identifier: Apache-2.0
#include "config/render.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "config/toml_file.h"

namespace tinker::config {
namespace {

constexpr std::size_t kColumns = 80;

// As a terminal counts them: the bytes that go on a UTF-8 character take no column.
std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (const char c : text) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return columns;
}

// `text` in lines that begin with `start`, broken at spaces.
std::string wrapped(std::string_view text, const std::string& start) {
  std::string lines = start;
  std::size_t column = columns_of(start);
  bool first = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!first && column + 1 + columns_of(word) > kColumns) {
      lines += "\n" + start;
      column = columns_of(start);
      first = true;
    }
    if (!first) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += columns_of(word);
    first = false;
  }
  return lines + "\n";
}

std::string change_text(Change change) {
  switch (change) {
    case Change::live:
      return "live";
    case Change::start:
      return "needs a restart";
  }
  __builtin_unreachable();
}

std::string default_text(const AnySetting& setting) {
  const std::string value = setting.fallback_text();
  if (value.empty()) return "none";
  return setting.about().unit.empty() ? value : value + " " + setting.about().unit;
}

// What troff would take for its own is written so that it prints.
std::string troff(std::string_view text) {
  std::string escaped;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with("…")) {
      escaped += "..";
      at += std::string_view("…").size() - 1;
    } else if (text[at] == '\\') {
      escaped += "\\e";
    } else if (text[at] == '-' && (at == 0 || text[at - 1] == ' ')) {
      escaped += "\\-";
    } else {
      escaped += text[at];
    }
  }
  return escaped;
}

std::string option(const std::string& flag, const std::string& value, const std::string& help) {
  return "  " + flag + (value.empty() ? "" : " " + value) + "\n" + wrapped(help, "      ");
}

}  // namespace

std::string help_text(const Settings& settings) {
  std::string text = "usage: tinkerd --base-model NAME [--upstream URL ...] [SETTING ...]\n\n";
  text += wrapped("Serves the sampling side of the Tinker API and forwards samples to a vLLM router.", "") + "\n";
  text += option("--config", "FILE", "TOML file of settings; /etc/tinkerd/tinkerd.toml when it exists.");
  text += option("--example-config", "", "Print such a file, with every setting at its default, and exit.");
  text += option("--version", "", "Print the version and exit.");
  text += option("-h, --help", "", "Print this text and exit.");
  text += "\nSettings:\n";
  for (const AnySetting* setting : settings.all.list()) {
    const About& about = setting->about();
    text += option(setting->flag(), about.value + (setting->is_list() ? " ..." : ""),
                   about.help + " [" + setting->range_in_unit() + "; default " + default_text(*setting) + "; " +
                       change_text(about.change) + "]");
  }
  text += "\n" +
          wrapped(
              "Each setting is also a key of the file and an environment variable, TINKERD_ and its name in capitals. A flag "
              "outranks the environment, which outranks the file. `tinkerctl config list` shows the values in force, "
              "`tinkerctl config set` changes live ones. See tinkerd(8).",
              "");
  return text;
}

std::string manual_entries(const Settings& settings) {
  std::string text;
  for (const AnySetting* setting : settings.all.list()) {
    text += ".TP\n.B " + setting->about().name + "\n" + troff(setting->about().help) + "\n.br\nDefault " +
            troff(default_text(*setting)) + "; " + troff(setting->range_text()) + "; " + change_text(setting->about().change) +
            ".\n";
  }
  return text;
}

std::string example_file(const Settings& settings) {
  std::string text = "# Settings of tinkerd(8). What is commented out stands at its default.\n";
  for (const AnySetting* setting : settings.all.list()) {
    const std::vector<std::string> fallback =
        setting->is_list() ? std::vector<std::string>{} : std::vector{setting->fallback_text()};
    text += "\n" + wrapped(setting->about().help, "# ") + "# " + setting->range_in_unit() + "; " +
            change_text(setting->about().change) + "\n#" + toml_line(*setting, fallback) + "\n";
  }
  return text;
}

}  // namespace tinker::config
