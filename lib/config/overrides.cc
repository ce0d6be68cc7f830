// SPDX-License-Identifier: Apache-2.0
#include "config/overrides.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "config/toml_file.h"

namespace tinker::config {
namespace {

using base::Code;
using base::fail;

constexpr const char* kName = "overrides.toml";

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

// The new name itself survives a power cut once the directory is written.
bool sync_directory(const std::string& directory) {
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = fsync(fd) == 0;
  close(fd);
  return synced;
}

// A file that is there whole or not at all, also after a power cut.
base::Result<void> write_whole(const std::string& directory, const std::string& text) {
  const std::string path = directory + "/" + kName;
  const std::string fresh = path + ".new";
  const auto failed = [&](const char* what) {
    const int error = errno;
    unlink(fresh.c_str());
    return fail(Code::unavailable, std::string("cannot ") + what + " " + path + ": " + std::strerror(error) +
                                       " (what is set now holds until the next restart only)");
  };
  const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  if (fd < 0) return failed("write");
  const bool written = write_all(fd, text) && fsync(fd) == 0;
  const int error = errno;
  close(fd);
  errno = error;
  if (!written) return failed("write");
  if (rename(fresh.c_str(), path.c_str()) != 0) return failed("replace");
  if (!sync_directory(directory)) return failed("write the directory of");
  return {};
}

// The overrides but that of `setting`; none when there is no file.
base::Result<std::vector<Entry>> others(const Settings& settings, const AnySetting& setting) {
  if (!std::filesystem::exists(overrides_path(settings))) return std::vector<Entry>{};
  auto entries = read_toml(settings, overrides_path(settings));
  if (!entries) {
    entries.error().text += "; mend or remove the file (what is set now holds until the next restart only)";
    return entries;
  }
  std::erase_if(*entries, [&](const Entry& entry) { return entry.setting == &setting; });
  return entries;
}

base::Result<void> write_overrides(const Settings& settings, const std::vector<Entry>& entries) {
  std::string text =
      "# Written by `tinkerctl config set --persist`; outranks the configuration file, outranked by environment and flags.\n";
  for (const Entry& entry : entries) text += toml_line(*entry.setting, entry.values) + "\n";
  return write_whole(settings.state_dir.get(), text);
}

base::Result<AnySetting*> require_live(const Settings& settings, std::string_view name) {
  auto setting = settings.all.require(name);
  if (!setting) return setting;
  switch ((*setting)->about().change) {
    case Change::start:
      return fail(Code::invalid_argument,
                  (*setting)->about().name +
                      " is read at the start only: change it in the file or on the command line, and restart tinkerd");
    case Change::live:
      return setting;
  }
  __builtin_unreachable();
}

}  // namespace

std::string overrides_path(const Settings& settings) { return settings.state_dir.get() + "/" + kName; }

base::Result<AnySetting*> set_live(Settings& settings, std::string_view name, const std::string& value) {
  auto setting = require_live(settings, name);
  if (!setting) return setting;
  if (auto set = (*setting)->set({value}, Source::live); !set) return tl::unexpected(set.error());
  return setting;
}

base::Result<void> persist(const Settings& settings, const AnySetting& setting) {
  for (const Source stronger : {Source::flag, Source::environment}) {
    if (!setting.said_by(stronger)) continue;
    const std::string where = stronger == Source::flag ? "the flag " + setting.flag() : "an environment variable";
    return fail(Code::invalid_argument, setting.about().name + " is " + setting.text() + " until the next restart only: " +
                                            where + " of this tinkerd outranks overrides.toml, so change it there");
  }
  auto entries = others(settings, setting);
  if (!entries) return tl::unexpected(entries.error());
  entries->push_back({settings.all.find(setting.about().name), {setting.text()}});
  std::ranges::sort(*entries, {}, [](const Entry& entry) { return entry.setting->about().name; });
  return write_overrides(settings, *entries);
}

base::Result<AnySetting*> unset(Settings& settings, std::string_view name) {
  auto setting = require_live(settings, name);
  if (!setting) return setting;
  if (std::filesystem::exists(overrides_path(settings))) {
    const auto entries = others(settings, **setting);
    if (!entries) return tl::unexpected(entries.error());
    if (auto written = write_overrides(settings, *entries); !written) return tl::unexpected(written.error());
  }
  (*setting)->unset(Source::live);
  (*setting)->unset(Source::override_file);
  return setting;
}

}  // namespace tinker::config
