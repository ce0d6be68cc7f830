// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include "fixture.h"

namespace tinker::config {
namespace {

class LoadTest : public ConfigTest {};

TEST_F(LoadTest, TakesFlagsInBothSpellings) {
  ASSERT_TRUE(
      load_with({"--poll-hold-sec", "5", "--max_body_bytes=4096", "--upstream", "http://a:1", "--upstream", "http://b:2"}));

  EXPECT_EQ(settings.poll_hold_sec.get(), base::Seconds{5});
  EXPECT_EQ(settings.max_body_bytes.get(), 4096);
  EXPECT_EQ(settings.upstream.get(), (std::vector<std::string>{"http://a:1", "http://b:2"}));
  EXPECT_EQ(settings.poll_hold_sec.source(), Source::flag);
}

TEST_F(LoadTest, TheLastOfAFlagHolds) {
  ASSERT_TRUE(load_with({"--port", "1", "--workers", "2", "--port=3"}));

  EXPECT_EQ(settings.port.get(), 3);
  EXPECT_EQ(settings.workers.get(), 2);
}

TEST_F(LoadTest, AnEmptyValueIsAValue) {
  ASSERT_TRUE(load_with({"--access-log=", "--port=1", "--base-model", "", "--workers=2"}));

  EXPECT_EQ(settings.access_log.source(), Source::flag);
  EXPECT_EQ(settings.access_log.get(), "");
  EXPECT_EQ(settings.base_model.source(), Source::flag);
  EXPECT_EQ(settings.port.get(), 1);
  EXPECT_EQ(settings.workers.get(), 2);
  EXPECT_FALSE(load_with({"--config="}));
}

TEST_F(LoadTest, AValueMayHoldAnEqualsSign) {
  ASSERT_TRUE(load_with({"--database-url=sqlite:///x?a=b"}));

  EXPECT_EQ(settings.database_url.get(), "sqlite:///x?a=b");
}

TEST_F(LoadTest, TheStrongerSourceWins) {
  const std::string toml =
      file("t.toml", "poll_hold_sec = 1\nmax_outstanding = 1\nwrite_timeout_sec = 1\nrequest_timeout_sec = 1\n");
  file("overrides.toml", "poll_hold_sec = 2\nmax_outstanding = 2\nwrite_timeout_sec = 2\n");
  set_environment("TINKERD_POLL_HOLD_SEC", "3");
  set_environment("TINKERD_MAX_OUTSTANDING", "3");

  ASSERT_TRUE(load_with({"--config", toml, "--poll-hold-sec", "4"}));

  EXPECT_EQ(settings.poll_hold_sec.text(), "4");
  EXPECT_EQ(settings.poll_hold_sec.source(), Source::flag);
  EXPECT_EQ(settings.max_outstanding.text(), "3");
  EXPECT_EQ(settings.max_outstanding.source(), Source::environment);
  EXPECT_EQ(settings.write_timeout_sec.text(), "2");
  EXPECT_EQ(settings.write_timeout_sec.source(), Source::override_file);
  EXPECT_EQ(settings.request_timeout_sec.text(), "1");
  EXPECT_EQ(settings.request_timeout_sec.source(), Source::file);
  EXPECT_EQ(settings.upstream_idle_sec.source(), Source::fallback);
}

TEST_F(LoadTest, FindsTheOverridesOfAStateDirectoryThatTheFileNames) {
  const std::string toml = file("t.toml", "state_dir = \"" + dir + "\"\n");
  file("overrides.toml", "poll_hold_sec = 2\n");
  const std::vector<const char*> argv{"tinkerd", "--config", toml.c_str()};

  ASSERT_TRUE(load(settings, static_cast<int>(argv.size()), argv.data()));

  EXPECT_EQ(settings.poll_hold_sec.text(), "2");
}

TEST_F(LoadTest, TakesTheSettingsOfThePeer) {
  set_environment("SKYRL_DATABASE_URL", "sqlite:////x/tinker.db");
  set_environment("SKYRL_FORWARDING_INFERENCE_TIMEOUT_SEC", "100.5");

  ASSERT_TRUE(
      load_with({"--base-model", "tiny", "--host", "0.0.0.0", "--port", "8001", "--forwarding-inference-max-connections",
                 "None", "--external-future-retrieved-ttl-sec", "300.0", "--external-future-completed-ttl-sec", "600.0"}));

  EXPECT_EQ(settings.database_url.get(), "sqlite:////x/tinker.db");
  EXPECT_EQ(settings.forwarding_inference_timeout_sec.get(), base::Seconds{100.5});
  EXPECT_EQ(settings.forwarding_inference_max_connections.get(), 1'000'000);
  EXPECT_EQ(settings.external_future_completed_ttl_sec.get(), base::Seconds{600});
}

TEST_F(LoadTest, OurVariableOutranksThePeers) {
  set_environment("SKYRL_DATABASE_URL", "sqlite:////peer.db");
  set_environment("TINKERD_DATABASE_URL", "sqlite:////ours.db");

  ASSERT_TRUE(load_with({}));

  EXPECT_EQ(settings.database_url.get(), "sqlite:////ours.db");
}

TEST_F(LoadTest, ReadsEverySettingFromAFlag) {
  std::vector<std::string> arguments;
  for (const AnySetting* setting : settings.all.list()) {
    if (setting->about().name == "state_dir") continue;
    arguments.push_back(setting->flag() + "=" + (setting->is_list() ? "http://a:1" : setting->fallback_text()));
  }

  const auto loaded = load_with(arguments);

  ASSERT_TRUE(loaded) << loaded.error().text;
  for (const AnySetting* setting : settings.all.list()) EXPECT_EQ(setting->source(), Source::flag) << setting->about().name;
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
  EXPECT_EQ(settings.upstream.get(), (std::vector<std::string>{"http://a:1", "http://b:2"}));
}

TEST_F(LoadTest, ReadsEveryLiveSettingFromTheOverridesAndNoOther) {
  for (const AnySetting* setting : settings.all.list()) {
    Settings fresh;
    file("overrides.toml",
         setting->about().name + " = " + (setting->is_list() ? "[]" : "'" + setting->fallback_text() + "'") + "\n");

    const auto loaded = load_into(fresh, {});

    EXPECT_EQ(loaded.has_value(), setting->about().change == Change::live) << setting->about().name;
    if (!loaded) {
      EXPECT_NE(loaded.error().text.find("configuration file"), std::string::npos) << loaded.error().text;
    }
  }
}

TEST_F(LoadTest, SaysWhatIsWrongWhereAndWhatIsKnown) {
  struct Case {
    std::vector<std::string> arguments;
    std::vector<std::string> said;
  };
  const std::string range = file("range.toml", "poll_hold_sec = 90\n");
  const std::string several = file("several.toml", "workers = [1, 2]\n");
  for (const Case& test : {Case{{"--config", range}, {range, "poll_hold_sec = '90'", "0.1 … 44", "45 s"}},
                           Case{{"--config", several}, {several, "workers = '1, 2'", "one value"}},
                           Case{{"--config", dir + "/absent.toml"}, {"absent.toml", "No such file"}},
                           Case{{"--port", "70000"}, {"--port", "port = '70000'", "a whole number, 0 … 65535."}},
                           Case{{"--prot", "1"}, {"there is no flag --prot; did you mean --port?", "--help"}},
                           Case{{"--poll-hold=1"}, {"there is no flag --poll-hold; did you mean --poll-hold-sec?"}},
                           Case{{"--zzzzzzzzzzzzzzzzzz"}, {"there is no flag --zzzzzzzzzzzzzzzzzz (see"}},
                           Case{{"--port"}, {"--port", "NUMBER", "--help"}}, Case{{"stray"}, {"'stray'", "--help"}},
                           Case{{"-p", "1"}, {"'-p'", "--help"}}}) {
    const auto loaded = load_with(test.arguments);

    ASSERT_FALSE(loaded) << test.arguments[0];
    for (const std::string& words : test.said)
      EXPECT_NE(loaded.error().text.find(words), std::string::npos) << words << " is not in: " << loaded.error().text;
  }
}

TEST_F(LoadTest, NamesAnEnvironmentVariableThatIsWrong) {
  set_environment("TINKERD_WORKERS", "many");

  const auto loaded = load_with({});

  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().text.find("environment variable TINKERD_WORKERS"), std::string::npos);
}

TEST_F(LoadTest, PrintsItsVersion) {
  const auto loaded = load_with({"--version"});

  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ((*loaded)->text, std::string("tinkerd ") + TINKER_VERSION + "\n");
}

TEST_F(LoadTest, PrintsHelpInBothSpellings) {
  for (const char* flag : {"-h", "--help"}) {
    const auto loaded = load_with({flag});

    ASSERT_TRUE(loaded && *loaded);
    EXPECT_TRUE((*loaded)->text.find("--poll-hold-sec SECONDS") != std::string::npos) << (*loaded)->text;
  }
}

TEST_F(LoadTest, TheExampleFileLoadsWithItsCommentsTakenOff) {
  const auto printed = load_with({"--example-config"});
  ASSERT_TRUE(printed && *printed);
  std::istringstream example((*printed)->text);
  std::string toml;
  for (std::string line; std::getline(example, line);) {
    if (line.starts_with('#') && !line.starts_with("# ")) toml += line.substr(1) + "\n";
  }

  const auto loaded = load_with({"--config", file("example.toml", toml)});

  ASSERT_TRUE(loaded) << loaded.error().text << toml;
  for (const AnySetting* setting : settings.all.list()) {
    EXPECT_TRUE(setting->said_by(Source::file)) << setting->about().name;
    if (setting->about().name != "state_dir") {
      EXPECT_EQ(setting->text(), setting->fallback_text()) << setting->about().name;
    }
  }
}

TEST_F(LoadTest, TheExampleFileLoadsAsItIs) {
  const auto printed = load_with({"--example-config"});
  ASSERT_TRUE(printed && *printed);

  const auto loaded = load_with({"--config", file("example.toml", (*printed)->text)});

  ASSERT_TRUE(loaded) << loaded.error().text;
  for (const AnySetting* setting : settings.all.list()) EXPECT_FALSE(setting->said_by(Source::file)) << setting->about().name;
}

}  // namespace
}  // namespace tinker::config
