// SPDX-License-Identifier: Apache-2.0
#include "config/setting.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace tinker::config {
namespace {

using base::Code;

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string underscored(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '-', '_');
  return text;
}

// Shortest text that reads back as the same number, without an exponent for the sizes that settings have.
std::string number_text(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
  return {buffer, end};
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// How many letters must change to make one word of the other (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view name_of(Source source) {
  switch (source) {
    case Source::fallback:
      return "default";
    case Source::file:
      return "file";
    case Source::override_file:
      return "override";
    case Source::environment:
      return "environment";
    case Source::flag:
      return "flag";
    case Source::live:
      return "live";
  }
  __builtin_unreachable();
}

std::string AnySetting::flag() const {
  std::string flag = "--" + about_.name;
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string AnySetting::environment() const { return "TINKERD_" + upper(about_.name); }

std::string AnySetting::range_in_unit() const { return range_text() + (about_.unit.empty() ? "" : " " + about_.unit); }

base::Result<void> AnySetting::set(const std::vector<std::string>& values, Source source) {
  if (values.size() != 1 && !is_list()) return refuse(values.empty() ? "" : values[0] + ", " + values[1], "one value");
  if (auto taken = take(values); !taken) return taken;
  said_[static_cast<std::size_t>(source)] = values;
  enforce_strongest();
  return {};
}

void AnySetting::unset(Source source) {
  said_[static_cast<std::size_t>(source)].reset();
  enforce_strongest();
}

// Every value that was said has been taken once, and the fallback is in range, so taking it again cannot fail.
void AnySetting::enforce_strongest() {
  std::size_t strongest = kSources - 1;
  while (strongest > 0 && !said_[strongest]) --strongest;
  const std::vector<std::string> fallback = is_list() ? std::vector<std::string>{} : std::vector{fallback_text()};
  (void)take(said_[strongest].value_or(fallback));
  source_.store(static_cast<Source>(strongest), std::memory_order_relaxed);
}

tl::unexpected<base::Error> AnySetting::refuse(std::string_view value, std::string_view expected) const {
  return base::fail(Code::invalid_argument, about_.name + " = '" + std::string(value.substr(0, 128)) + "': must be " +
                                                std::string(expected) + ". " + about_.help);
}

AnySetting* Registry::find(std::string_view name) const {
  const std::string wanted = underscored(name);
  const auto found =
      std::ranges::find_if(settings_, [&](const AnySetting* setting) { return setting->about().name == wanted; });
  return found == settings_.end() ? nullptr : *found;
}

base::Result<AnySetting*> Registry::require(std::string_view name) const {
  if (AnySetting* setting = find(name)) return setting;
  const std::string close = nearest(name);
  return base::fail(Code::not_found, "there is no setting '" + std::string(name.substr(0, 128)) + "'" +
                                         (close.empty() ? "" : "; did you mean '" + close + "'?"));
}

std::string Registry::nearest(std::string_view name) const {
  const std::string wanted = underscored(name.substr(0, 128));
  std::size_t best = wanted.size() / 2 + 1;
  std::string nearest;
  for (const AnySetting* setting : settings_) {
    const std::size_t far = distance(wanted, setting->about().name);
    if (far >= best) continue;
    best = far;
    nearest = setting->about().name;
  }
  return nearest;
}

WholeSetting::WholeSetting(Registry& registry, Spec spec)
    : AnySetting({.name = spec.name, .unit = spec.unit, .change = spec.change, .help = spec.help, .value = "NUMBER"}),
      spec_(std::move(spec)),
      value_(spec_.fallback) {
  registry.add(*this);
}

std::string WholeSetting::range_text() const {
  return std::to_string(spec_.least) + " … " + std::to_string(spec_.most) +
         (spec_.unlimited.empty() ? "" : " or " + spec_.unlimited);
}

base::Result<void> WholeSetting::take(const std::vector<std::string>& values) {
  const std::string& value = values.back();
  if (!spec_.unlimited.empty() && value == spec_.unlimited) {
    value_.store(spec_.most, std::memory_order_relaxed);
    return {};
  }
  const auto number = number_of<std::int64_t>(value);
  if (!number || *number < spec_.least || *number > spec_.most) return refuse(value, "a whole number, " + range_in_unit());
  value_.store(*number, std::memory_order_relaxed);
  return {};
}

SecondsSetting::SecondsSetting(Registry& registry, Spec spec)
    : AnySetting({.name = spec.name,
                  .unit = "s",
                  .change = spec.change,
                  .help = spec.help,
                  .value = "SECONDS",
                  .also_env = spec.also_env}),
      spec_(std::move(spec)),
      value_(spec_.fallback) {
  registry.add(*this);
}

std::string SecondsSetting::text() const { return number_text(get().count()); }
std::string SecondsSetting::fallback_text() const { return number_text(spec_.fallback); }
std::string SecondsSetting::range_text() const { return number_text(spec_.least) + " … " + number_text(spec_.most); }

base::Result<void> SecondsSetting::take(const std::vector<std::string>& values) {
  const auto number = number_of<double>(values.back());
  if (!number || !std::isfinite(*number) || *number < spec_.least || *number > spec_.most) {
    return refuse(values.back(), "a number of seconds, " + range_text());
  }
  value_.store(*number, std::memory_order_relaxed);
  return {};
}

SwitchSetting::SwitchSetting(Registry& registry, Spec spec)
    : AnySetting({.name = spec.name, .change = spec.change, .help = spec.help, .value = "true|false"}),
      spec_(std::move(spec)),
      value_(spec_.fallback) {
  registry.add(*this);
}

base::Result<void> SwitchSetting::take(const std::vector<std::string>& values) {
  const std::string& value = values.back();
  if (value != "true" && value != "false") return refuse(value, "true or false");
  value_.store(value == "true", std::memory_order_relaxed);
  return {};
}

TextSetting::TextSetting(Registry& registry, Spec spec)
    : AnySetting({.name = spec.name, .help = spec.help, .value = spec.value, .also_env = spec.also_env}),
      spec_(std::move(spec)),
      value_(spec_.fallback) {
  registry.add(*this);
}

std::string TextSetting::range_text() const {
  if (spec_.choices.empty()) return "text";
  std::string words;
  for (const std::string& choice : spec_.choices) words += (words.empty() ? "" : ", ") + choice;
  return words;
}

base::Result<void> TextSetting::take(const std::vector<std::string>& values) {
  const std::string& value = values.back();
  if (!spec_.choices.empty() && std::ranges::find(spec_.choices, value) == spec_.choices.end())
    return refuse(value, "one of " + range_text());
  value_ = value;
  return {};
}

ListSetting::ListSetting(Registry& registry, const Spec& spec)
    : AnySetting({.name = spec.name, .help = spec.help, .value = spec.value}) {
  registry.add(*this);
}

std::string ListSetting::text() const {
  std::string words;
  for (const std::string& word : value_) words += (words.empty() ? "" : " ") + word;
  return words;
}

base::Result<void> ListSetting::take(const std::vector<std::string>& values) {
  value_ = values;
  return {};
}

}  // namespace tinker::config
