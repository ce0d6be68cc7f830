// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tinker::config {
namespace {

class LoadTest : public ::testing::Test {
 protected:
  LoadTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tinkerd-config-XXXXXX").string();
    dir = mkdtemp(pattern.data());
  }
  ~LoadTest() override {
    for (const std::string& name : environment) unsetenv(name.c_str());
    std::filesystem::remove_all(dir);
  }

  base::Result<std::optional<Printed>> load_with(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"tinkerd", "--state-dir", dir});
    std::vector<const char*> argv;
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return load(settings, static_cast<int>(argv.size()), argv.data());
  }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(dir + "/" + name) << text;
    return dir + "/" + name;
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

  std::string dir;
  std::vector<std::string> environment;
  Settings settings;
};

TEST_F(LoadTest, TakesFlagsInBothSpellings) {
  ASSERT_TRUE(
      load_with({"--poll-hold-sec", "5", "--max_body_bytes=4096", "--upstream", "http://a:1", "--upstream", "http://b:2"}));

  EXPECT_EQ(settings.poll_hold_sec.get(), base::Seconds{5});
  EXPECT_EQ(settings.max_body_bytes.get(), 4096);
  EXPECT_EQ(settings.upstream.get(), (std::vector<std::string>{"http://a:1", "http://b:2"}));
  EXPECT_EQ(settings.poll_hold_sec.source(), Source::flag);
}

TEST_F(LoadTest, TheStrongerSourceWins) {
  const std::string toml =
      file("t.toml", "poll_hold_sec = 1\nidle_timeout_sec = 1\nwrite_timeout_sec = 1\nrequest_timeout_sec = 1\n");
  file("overrides.toml", "poll_hold_sec = 2\nidle_timeout_sec = 2\nwrite_timeout_sec = 2\n");
  set_environment("TINKERD_POLL_HOLD_SEC", "3");
  set_environment("TINKERD_IDLE_TIMEOUT_SEC", "3");

  ASSERT_TRUE(load_with({"--config", toml, "--poll-hold-sec", "4"}));

  EXPECT_EQ(settings.poll_hold_sec.text(), "4");
  EXPECT_EQ(settings.idle_timeout_sec.text(), "3");
  EXPECT_EQ(settings.write_timeout_sec.text(), "2");
  EXPECT_EQ(settings.request_timeout_sec.text(), "1");
  EXPECT_EQ(settings.write_timeout_sec.source(), Source::override_file);
  EXPECT_EQ(settings.upstream_idle_sec.source(), Source::fallback);
}

TEST_F(LoadTest, TakesTheSettingsOfThePeer) {
  set_environment("SKYRL_DATABASE_URL", "sqlite:////x/tinker.db");
  set_environment("SKYRL_FORWARDING_INFERENCE_TIMEOUT_SEC", "100.5");

  ASSERT_TRUE(
      load_with({"--base-model", "tiny", "--host", "0.0.0.0", "--port", "8001", "--forwarding-inference-max-connections",
                 "None", "--external-future-retrieved-ttl-sec", "300.0", "--external-future-completed-ttl-sec", "600.0"}));

  EXPECT_EQ(settings.database_url.get(), "sqlite:////x/tinker.db");
  EXPECT_EQ(settings.forwarding_inference_timeout_sec.get(), base::Seconds{100.5});
}

TEST_F(LoadTest, ReadsEverySettingFromAFile) {
  std::string toml;
  for (const AnySetting* setting : settings.all.list()) {
    if (setting->about().name == "state_dir") continue;
    const std::string value = setting->fallback_text();
    toml += setting->about().name + " = " +
            (setting->is_list()   ? "[\"http://a:1\", \"http://b:2\"]"
             : setting->is_text() ? "\"" + value + "\""
                                  : value) +
            "\n";
  }

  const auto loaded = load_with({"--config", file("t.toml", toml)});

  ASSERT_TRUE(loaded) << loaded.error().text;
  for (const AnySetting* setting : settings.all.list()) {
    if (setting->about().name != "state_dir") {
      EXPECT_EQ(setting->source(), Source::file) << setting->about().name;
    }
  }
  EXPECT_EQ(settings.upstream.get().size(), 2u);
}

TEST_F(LoadTest, ReadsEverySettingFromTheEnvironment) {
  for (const AnySetting* setting : settings.all.list()) {
    if (!setting->is_list() && setting->about().name != "state_dir")
      set_environment(setting->environment(), setting->fallback_text());
  }
  set_environment("TINKERD_UPSTREAM", "http://a:1 http://b:2");

  ASSERT_TRUE(load_with({}));

  for (const AnySetting* setting : settings.all.list()) {
    if (setting->about().name != "state_dir") {
      EXPECT_EQ(setting->source(), Source::environment) << setting->about().name;
    }
  }
  EXPECT_EQ(settings.upstream.get().size(), 2u);
}

TEST_F(LoadTest, SaysWhatIsWrongWhereAndWhatIsKnown) {
  struct Case {
    std::vector<std::string> arguments;
    std::vector<std::string> said;
  };
  const std::string unknown = file("unknown.toml", "pol_hold_sec = 3\n");
  const std::string range = file("range.toml", "poll_hold_sec = 90\n");
  const std::string section = file("section.toml", "[server]\nport = 1\n");
  for (const Case& test :
       {Case{{"--config", unknown}, {unknown, "pol_hold_sec", "did you mean 'poll_hold_sec'"}},
        Case{{"--config", range}, {range, "poll_hold_sec = '90'", "0.1 … 44", "45 s"}},
        Case{{"--config", section}, {section, "[server]"}},
        Case{{"--config", dir + "/absent.toml"}, {"absent.toml", "No such file"}},
        Case{{"--port", "70000"}, {"--port", "port = '70000'", "0 … 65535"}}, Case{{"--prot", "1"}, {"--prot", "--help"}},
        Case{{"--port"}, {"--port"}}, Case{{"stray"}, {"stray"}}}) {
    const auto loaded = load_with(test.arguments);

    ASSERT_FALSE(loaded) << test.arguments[0];
    for (const std::string& words : test.said)
      EXPECT_NE(loaded.error().text.find(words), std::string::npos) << loaded.error().text;
  }
}

TEST_F(LoadTest, NamesAnEnvironmentVariableThatIsWrong) {
  set_environment("TINKERD_WORKERS", "many");

  const auto loaded = load_with({});

  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().text.find("environment variable TINKERD_WORKERS"), std::string::npos);
}

TEST_F(LoadTest, HelpShowsEverySetting) {
  const auto loaded = load_with({"--help"});

  ASSERT_TRUE(loaded && *loaded);
  for (const AnySetting* setting : settings.all.list())
    EXPECT_NE((*loaded)->text.find(setting->flag()), std::string::npos) << setting->flag();
}

TEST_F(LoadTest, PrintsItsVersion) {
  const auto loaded = load_with({"--version"});

  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ((*loaded)->text, std::string("tinkerd ") + TINKER_VERSION + "\n");
}

TEST_F(LoadTest, KeepsPersistedValuesOverARestart) {
  ASSERT_TRUE(load_with({}));
  for (const auto& [name, value] : {std::pair{"poll_hold_sec", "7.5"}, {"max_body_bytes", "8192"}, {"poll-hold-sec", "9"}}) {
    const auto set = set_live(settings, name, value);
    ASSERT_TRUE(set) << set.error().text;
    ASSERT_TRUE(persist(settings, **set));
  }

  Settings restarted;
  const std::vector<const char*> argv{"tinkerd", "--state-dir", dir.c_str()};
  ASSERT_TRUE(load(restarted, static_cast<int>(argv.size()), argv.data()));

  EXPECT_EQ(restarted.poll_hold_sec.text(), "9");
  EXPECT_EQ(restarted.max_body_bytes.text(), "8192");
  EXPECT_EQ(restarted.max_body_bytes.source(), Source::override_file);
}

TEST_F(LoadTest, LeavesOverridesAloneThatItCannotRead) {
  ASSERT_TRUE(load_with({}));
  const std::string damaged = "[broken\n";
  file("overrides.toml", damaged);

  const auto persisted = persist(settings, settings.poll_hold_sec);

  EXPECT_EQ(persisted.has_value(), read(dir + "/overrides.toml") != damaged);
}

TEST_F(LoadTest, SaysWhenAValueCannotBePersisted) {
  ASSERT_TRUE(load_with({}));
  std::filesystem::remove_all(dir);

  const auto persisted = persist(settings, settings.poll_hold_sec);

  ASSERT_FALSE(persisted);
  EXPECT_NE(persisted.error().text.find("overrides.toml"), std::string::npos);
}

TEST_F(LoadTest, OnlyLiveSettingsAreSetLive) {
  for (AnySetting* setting : settings.all.list()) {
    const auto set = set_live(settings, setting->about().name, setting->fallback_text());

    EXPECT_EQ(set.has_value(), setting->about().change == Change::live) << setting->about().name;
    if (!set) {
      EXPECT_NE(set.error().text.find("restart"), std::string::npos);
    }
  }
  EXPECT_EQ(set_live(settings, "poll_hold", "3").error().code, base::Code::not_found);
  EXPECT_EQ(set_live(settings, "poll_hold_sec", "90").error().code, base::Code::invalid_argument);
}

TEST_F(LoadTest, TheSampleFileLoadsWithItsCommentsTakenOff) {
  std::istringstream sample(sample_file(settings));
  std::string toml;
  for (std::string line; std::getline(sample, line);) {
    if (line.starts_with('#') && !line.starts_with("# ") && !line.starts_with("#state_dir") && line.size() > 1)
      toml += line.substr(1) + "\n";
  }

  const auto loaded = load_with({"--config", file("sample.toml", toml)});

  ASSERT_TRUE(loaded) << loaded.error().text << toml;
  for (const AnySetting* setting : settings.all.list()) {
    if (setting->is_list() || setting->about().name == "state_dir") continue;
    EXPECT_EQ(setting->text(), setting->fallback_text()) << setting->about().name;
  }
}

}  // namespace
}  // namespace tinker::config
