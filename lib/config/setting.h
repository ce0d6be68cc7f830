// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace tinker::config {

// When a new value takes effect.
enum class Change { live, start };

// Where a value comes from, weakest first.
enum class Source { fallback, file, override_file, environment, flag, live };
inline constexpr std::size_t kSources = 6;
std::string_view name_of(Source source);

// What a setting says of itself, apart from its type.
struct About {
  std::string name;       // snake_case: --snake-case, TINKERD_SNAKE_CASE and the file's key are made from it
  std::string unit = "";  // "s", "bytes", "connections"; empty where the value has none
  Change change = Change::start;
  std::string help = "";                   // one or two sentences for an operator
  std::string value = "";                  // what stands for the value in --help: "ADDRESS"
  std::vector<std::string> also_env = {};  // further environment variables: the peer's
};

// One setting, whatever its type: the face that files, flags, `tinkerctl config` and the manual see.
//
// Thread    text() of a live setting and source() from any; the rest from one at a time.
class AnySetting {
 public:
  explicit AnySetting(About about) : about_(std::move(about)) {}
  virtual ~AnySetting() = default;
  AnySetting(const AnySetting&) = delete;
  AnySetting& operator=(const AnySetting&) = delete;

  const About& about() const { return about_; }
  std::string flag() const;         // "--poll-hold-sec"
  std::string environment() const;  // "TINKERD_POLL_HOLD_SEC"

  virtual std::string text() const = 0;
  virtual std::string fallback_text() const = 0;
  virtual std::string range_text() const = 0;  // "1 … 44", "debug, info", "text", "list of texts"
  std::string range_in_unit() const;           // "1 … 44 s"
  virtual bool is_list() const { return false; }
  virtual bool is_text() const { return false; }  // quoted in a TOML file

  // Takes `values`, one or all of a list, as what `source` says. The strongest source that said something is in force, in
  // whatever order they come. Errors (invalid_argument) name the setting, the value and the range; nothing changes then.
  base::Result<void> set(const std::vector<std::string>& values, Source source);
  // Forgets what `source` said; the strongest of the others is in force again.
  void unset(Source source);
  // The source that is in force.
  Source source() const { return source_.load(std::memory_order_relaxed); }
  bool said_by(Source source) const { return said_[static_cast<std::size_t>(source)].has_value(); }

 protected:
  virtual base::Result<void> take(const std::vector<std::string>& values) = 0;
  tl::unexpected<base::Error> refuse(std::string_view value, std::string_view expected) const;

 private:
  void enforce_strongest();

  const About about_;
  std::array<std::optional<std::vector<std::string>>, kSources> said_;  // by Source
  std::atomic<Source> source_{Source::fallback};
};

// All settings, in the order of their declaration, which is that of the manual.
class Registry {
 public:
  void add(AnySetting& setting) { settings_.push_back(&setting); }
  const std::vector<AnySetting*>& list() const { return settings_; }
  // By name, with '-' for '_' too; nullptr when there is none.
  AnySetting* find(std::string_view name) const;
  // The same; not_found with the nearest name when there is none.
  base::Result<AnySetting*> require(std::string_view name) const;
  // The known name that is most like `name`, with '-' for '_' too, for error texts; empty when none is.
  std::string nearest(std::string_view name) const;

 private:
  std::vector<AnySetting*> settings_;
};

// A whole number. get() from any thread.
class WholeSetting final : public AnySetting {
 public:
  struct Spec {
    std::string name;
    std::int64_t fallback;
    std::int64_t least, most;
    std::string unit = "";
    Change change = Change::start;
    std::string help;
    std::string unlimited = "";  // a word that stands for `most`: the peer's None
  };
  WholeSetting(Registry& registry, Spec spec);
  std::int64_t get() const { return value_.load(std::memory_order_relaxed); }

  std::string text() const override { return std::to_string(get()); }
  std::string fallback_text() const override { return std::to_string(spec_.fallback); }
  std::string range_text() const override;

 private:
  base::Result<void> take(const std::vector<std::string>& values) override;
  const Spec spec_;
  std::atomic<std::int64_t> value_;
};

// A time in seconds, fractions allowed. get() from any thread.
class SecondsSetting final : public AnySetting {
 public:
  struct Spec {
    std::string name;
    double fallback;
    double least, most;
    Change change = Change::start;
    std::string help;
    std::vector<std::string> also_env = {};
  };
  SecondsSetting(Registry& registry, Spec spec);
  base::Seconds get() const { return base::Seconds{value_.load(std::memory_order_relaxed)}; }

  std::string text() const override;
  std::string fallback_text() const override;
  std::string range_text() const override;

 private:
  base::Result<void> take(const std::vector<std::string>& values) override;
  const Spec spec_;
  std::atomic<double> value_;
};

// On or off: "true" or "false", as TOML and JSON have it. get() from any thread.
class SwitchSetting final : public AnySetting {
 public:
  struct Spec {
    std::string name;
    bool fallback;
    Change change = Change::start;
    std::string help;
  };
  SwitchSetting(Registry& registry, Spec spec);
  bool get() const { return value_.load(std::memory_order_relaxed); }

  std::string text() const override { return get() ? "true" : "false"; }
  std::string fallback_text() const override { return spec_.fallback ? "true" : "false"; }
  std::string range_text() const override { return "true, false"; }

 private:
  base::Result<void> take(const std::vector<std::string>& values) override;
  const Spec spec_;
  std::atomic<bool> value_;
};

// Text; of a few words when `choices` are given. For start-only settings: read after the start, from any thread.
class TextSetting final : public AnySetting {
 public:
  struct Spec {
    std::string name;
    std::string fallback = "";
    std::vector<std::string> choices = {};
    std::string help;
    std::string value = "TEXT";
    std::vector<std::string> also_env = {};
  };
  TextSetting(Registry& registry, Spec spec);
  const std::string& get() const { return value_; }

  std::string text() const override { return value_; }
  std::string fallback_text() const override { return spec_.fallback; }
  std::string range_text() const override;
  bool is_text() const override { return true; }

 private:
  base::Result<void> take(const std::vector<std::string>& values) override;
  const Spec spec_;
  std::string value_;
};

// Several texts: a flag that may be repeated, an array in the file, words with spaces between in the environment. Start only.
class ListSetting final : public AnySetting {
 public:
  struct Spec {
    std::string name;
    std::string help;
    std::string value = "TEXT";
  };
  ListSetting(Registry& registry, const Spec& spec);
  const std::vector<std::string>& get() const { return value_; }

  std::string text() const override;
  std::string fallback_text() const override { return ""; }
  std::string range_text() const override { return "list of texts"; }
  bool is_list() const override { return true; }
  bool is_text() const override { return true; }

 private:
  base::Result<void> take(const std::vector<std::string>& values) override;
  std::vector<std::string> value_;
};

}  // namespace tinker::config
