// SPDX-License-Identifier: Apache-2.0
#include "config/setting.h"

#include <gtest/gtest.h>

#include "config/settings.h"

namespace tinker::config {
namespace {

TEST(Settings, EachSaysWhatAnOperatorNeeds) {
  Settings settings;
  for (const AnySetting* setting : settings.all.list()) {
    const About& about = setting->about();
    EXPECT_TRUE(about.help.ends_with('.')) << about.name;
    EXPECT_FALSE(setting->range_text().empty()) << about.name;
    EXPECT_EQ(settings.all.find(about.name), setting) << about.name << " stands twice";
    if (!setting->is_text()) {
      EXPECT_TRUE(!about.unit.empty() || about.name == "port") << about.name;
    }
  }
}

TEST(Settings, EachTakesItsOwnDefault) {
  Settings settings;
  for (AnySetting* setting : settings.all.list()) {
    if (setting->is_list()) continue;
    const auto set = setting->set({setting->fallback_text()}, Source::file);

    EXPECT_TRUE(set) << setting->about().name;
    EXPECT_EQ(setting->text(), setting->fallback_text());
    EXPECT_EQ(setting->source(), Source::file);
  }
}

TEST(Settings, NumbersRefuseWhatIsNoNumberInRange) {
  Settings settings;
  for (AnySetting* setting : settings.all.list()) {
    if (setting->is_text()) continue;
    for (const char* wrong : {"", "x", "1x", " 1", "-1", "1e999", "nan", "inf", "99999999999999999999", "0x10"}) {
      const std::string before = setting->text();
      const auto set = setting->set({wrong}, Source::flag);

      ASSERT_FALSE(set) << setting->about().name << " took '" << wrong << "'";
      EXPECT_NE(set.error().text.find(setting->about().name), std::string::npos);
      EXPECT_NE(set.error().text.find(setting->range_text()), std::string::npos);
      EXPECT_EQ(setting->text(), before);
      EXPECT_EQ(setting->source(), Source::fallback);
    }
  }
}

TEST(WholeSetting, TakesThePeersWordForNoLimit) {
  Settings settings;

  ASSERT_TRUE(settings.forwarding_inference_max_connections.set({"None"}, Source::flag));

  EXPECT_EQ(settings.forwarding_inference_max_connections.get(), 1'000'000);
}

TEST(SecondsSetting, ShowsTheShortestTextThatReadsBack) {
  Settings settings;

  ASSERT_TRUE(settings.poll_hold_sec.set({"0.25"}, Source::live));

  EXPECT_EQ(settings.poll_hold_sec.text(), "0.25");
  EXPECT_EQ(settings.poll_hold_sec.get(), base::Seconds{0.25});
}

TEST(TextSetting, RefusesAWordThatIsNoChoice) {
  Settings settings;

  const auto set = settings.log_level.set({"loud"}, Source::file);

  ASSERT_FALSE(set);
  EXPECT_NE(set.error().text.find("debug, info, warn, error"), std::string::npos);
}

TEST(Registry, FindsANameWithDashesAndTheNearest) {
  Settings settings;

  EXPECT_EQ(settings.all.find("poll-hold-sec"), &settings.poll_hold_sec);
  EXPECT_EQ(settings.all.find("poll_hold"), nullptr);
  EXPECT_EQ(settings.all.nearest("pol_hold_sec"), "poll_hold_sec");
  EXPECT_EQ(settings.all.nearest("zzzzzzzzzzzzzzzz"), "");
}

}  // namespace
}  // namespace tinker::config
