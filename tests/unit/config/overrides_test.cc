// SPDX-License-Identifier: Apache-2.0
#include "config/overrides.h"

#include <sys/stat.h>

#include "fixture.h"

namespace tinker::config {
namespace {

class OverridesTest : public ConfigTest {
 protected:
  void set_and_persist(const std::string& name, const std::string& value) {
    const auto set = set_live(settings, name, value);
    ASSERT_TRUE(set) << set.error().text;
    const auto kept = persist(settings, **set);
    ASSERT_TRUE(kept) << kept.error().text;
  }
  std::string overrides() const { return read(dir + "/overrides.toml"); }
};

TEST_F(OverridesTest, OnlyLiveSettingsAreSetLive) {
  for (AnySetting* setting : settings.all.list()) {
    const auto set = set_live(settings, setting->about().name, setting->fallback_text());

    EXPECT_EQ(set.has_value(), setting->about().change == Change::live) << setting->about().name;
    if (!set) {
      EXPECT_NE(set.error().text.find("restart"), std::string::npos);
    }
  }
}

TEST_F(OverridesTest, SaysWhyAValueIsNotSet) {
  EXPECT_EQ(set_live(settings, "poll_hold", "3").error().code, base::Code::not_found);
  EXPECT_NE(set_live(settings, "poll_hold", "3").error().text.find("'poll_hold_sec'"), std::string::npos);
  EXPECT_EQ(set_live(settings, "poll_hold_sec", "90").error().code, base::Code::invalid_argument);
  EXPECT_EQ(settings.poll_hold_sec.source(), Source::fallback);
}

TEST_F(OverridesTest, KeepsPersistedValuesOverARestart) {
  ASSERT_TRUE(load_with({}));
  set_and_persist("poll_hold_sec", "7.5");
  set_and_persist("max_body_bytes", "8192");
  set_and_persist("poll-hold-sec", "9");

  Settings restarted;
  ASSERT_TRUE(load_into(restarted, {}));

  EXPECT_EQ(restarted.poll_hold_sec.text(), "9");
  EXPECT_EQ(restarted.max_body_bytes.text(), "8192");
  EXPECT_EQ(restarted.max_body_bytes.source(), Source::override_file);
  EXPECT_EQ(restarted.write_timeout_sec.source(), Source::fallback);
}

TEST_F(OverridesTest, KeepsEveryLiveSetting) {
  ASSERT_TRUE(load_with({}));
  for (const AnySetting* setting : settings.all.list()) {
    if (setting->about().change == Change::live) set_and_persist(setting->about().name, setting->fallback_text());
  }

  Settings restarted;
  ASSERT_TRUE(load_into(restarted, {}));

  for (const AnySetting* setting : restarted.all.list())
    EXPECT_EQ(setting->said_by(Source::override_file), setting->about().change == Change::live) << setting->about().name;
}

TEST_F(OverridesTest, WritesAFileThatSaysWhatItIs) {
  ASSERT_TRUE(load_with({}));

  set_and_persist("poll_hold_sec", "7.5");
  set_and_persist("max_body_bytes", "8192");

  EXPECT_TRUE(overrides().starts_with("# Written by `tinkerctl config set --persist`"));
  EXPECT_TRUE(overrides().ends_with("\nmax_body_bytes = 8192\npoll_hold_sec = 7.5\n")) << overrides();
  EXPECT_FALSE(std::filesystem::exists(dir + "/overrides.toml.new"));
  struct stat file;
  ASSERT_EQ(stat((dir + "/overrides.toml").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07, 0u) << "others can read it";
}

TEST_F(OverridesTest, LeavesAFileAloneThatItCannotRead) {
  ASSERT_TRUE(load_with({}));
  for (const std::string damaged : {"[broken\n", "[section]\nport = 1\n", "unknown_to_this_release = 1\n"}) {
    file("overrides.toml", damaged);

    const auto kept = persist(settings, settings.poll_hold_sec);
    const auto taken_back = unset(settings, "poll_hold_sec");

    ASSERT_FALSE(kept) << damaged;
    EXPECT_NE(kept.error().text.find("mend or remove the file"), std::string::npos) << kept.error().text;
    EXPECT_FALSE(taken_back);
    EXPECT_EQ(overrides(), damaged);
  }
}

TEST_F(OverridesTest, SaysThatAFlagWouldBeBackAfterARestart) {
  set_environment("TINKERD_MAX_BODY_BYTES", "4096");
  ASSERT_TRUE(load_with({"--poll-hold-sec", "5"}));
  ASSERT_TRUE(set_live(settings, "poll_hold_sec", "6"));
  ASSERT_TRUE(set_live(settings, "max_body_bytes", "8192"));

  const auto over_flag = persist(settings, settings.poll_hold_sec);
  const auto over_environment = persist(settings, settings.max_body_bytes);

  ASSERT_FALSE(over_flag);
  EXPECT_NE(over_flag.error().text.find("poll_hold_sec is 6 until the next restart only: the flag --poll-hold-sec"),
            std::string::npos)
      << over_flag.error().text;
  ASSERT_FALSE(over_environment);
  EXPECT_NE(over_environment.error().text.find("environment variable"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(dir + "/overrides.toml"));
}

TEST_F(OverridesTest, SaysWhenAValueCannotBePersisted) {
  ASSERT_TRUE(load_with({}));
  std::filesystem::remove_all(dir);

  const auto kept = persist(settings, settings.poll_hold_sec);

  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().code, base::Code::unavailable);
  EXPECT_NE(kept.error().text.find("overrides.toml: No such file or directory"), std::string::npos) << kept.error().text;
}

TEST_F(OverridesTest, KeepsTheOldFileWhenTheNewCannotTakeItsPlace) {
  ASSERT_TRUE(load_with({}));
  std::filesystem::create_directories(dir + "/overrides.toml.new/in_the_way");
  file("overrides.toml", "max_body_bytes = 8192\n");

  const auto kept = persist(settings, settings.poll_hold_sec);

  ASSERT_FALSE(kept);
  EXPECT_EQ(overrides(), "max_body_bytes = 8192\n");
}

TEST_F(OverridesTest, UnsetBringsTheOtherSourcesBack) {
  const std::string toml = file("t.toml", "poll_hold_sec = 20\n");
  file("overrides.toml", "poll_hold_sec = 21\nmax_body_bytes = 8192\n");
  ASSERT_TRUE(load_with({"--config", toml}));
  ASSERT_TRUE(set_live(settings, "poll_hold_sec", "22"));

  const auto taken_back = unset(settings, "poll_hold_sec");

  ASSERT_TRUE(taken_back) << taken_back.error().text;
  EXPECT_EQ((*taken_back)->text(), "20");
  EXPECT_EQ((*taken_back)->source(), Source::file);
  EXPECT_EQ(overrides().find("poll_hold_sec"), std::string::npos);
  EXPECT_NE(overrides().find("max_body_bytes = 8192"), std::string::npos);
}

TEST_F(OverridesTest, UnsetWithoutAFileEndsALiveValue) {
  ASSERT_TRUE(load_with({}));
  ASSERT_TRUE(set_live(settings, "poll_hold_sec", "22"));

  ASSERT_TRUE(unset(settings, "poll_hold_sec"));

  EXPECT_EQ(settings.poll_hold_sec.text(), "30");
  EXPECT_EQ(settings.poll_hold_sec.source(), Source::fallback);
  EXPECT_FALSE(std::filesystem::exists(dir + "/overrides.toml"));
}

TEST_F(OverridesTest, UnsetRefusesWhatCannotBeSetLive) {
  EXPECT_EQ(unset(settings, "port").error().code, base::Code::invalid_argument);
  EXPECT_EQ(unset(settings, "prot").error().code, base::Code::not_found);
}

}  // namespace
}  // namespace tinker::config
