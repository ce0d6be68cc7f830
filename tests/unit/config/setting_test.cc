// SPDX-License-Identifier: Apache-2.0
#include "config/setting.h"

#include <gtest/gtest.h>

#include "config/settings.h"

namespace tinker::config {
namespace {

bool is_number(const AnySetting& setting) {
  return dynamic_cast<const WholeSetting*>(&setting) != nullptr || dynamic_cast<const SecondsSetting*>(&setting) != nullptr;
}

TEST(Settings, EachSaysWhatAnOperatorNeeds) {
  Settings settings;
  for (const AnySetting* setting : settings.all.list()) {
    const About& about = setting->about();
    EXPECT_TRUE(about.help.ends_with('.')) << about.name;
    EXPECT_FALSE(setting->range_text().empty()) << about.name;
    EXPECT_FALSE(about.value.empty()) << about.name;
    EXPECT_EQ(settings.all.find(about.name), setting) << about.name << " stands twice";
    if (is_number(*setting)) {
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
    if (!is_number(*setting)) continue;
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

TEST(Settings, BoundsAreInTheRangeAndWhatIsBeyondIsNot) {
  Settings settings;
  for (AnySetting* setting : settings.all.list()) {
    if (!is_number(*setting)) continue;
    const std::string range = setting->range_text();
    const std::string least = range.substr(0, range.find(' '));
    std::string most = range.substr(range.find("… ") + std::string("… ").size());
    most = most.substr(0, most.find(' '));

    EXPECT_TRUE(setting->set({least}, Source::flag)) << setting->about().name;
    EXPECT_EQ(setting->text(), least);
    EXPECT_TRUE(setting->set({most}, Source::flag)) << setting->about().name;
    EXPECT_EQ(setting->text(), most);
    EXPECT_FALSE(setting->set({most + "0"}, Source::flag)) << setting->about().name;
    EXPECT_FALSE(setting->set({"-" + most}, Source::flag)) << setting->about().name;
  }
}

// Clients poll for 45 s and keep connections for 90 s, vLLM for 5 s: defaults and bounds that would break them are faults of
// ours.
TEST(Settings, StayClearOfTheOtherSidesTimeOuts) {
  Settings settings;

  EXPECT_FALSE(settings.poll_hold_sec.set({"45"}, Source::flag));
  EXPECT_FALSE(settings.idle_timeout_sec.set({"90"}, Source::flag));
  EXPECT_LT(settings.upstream_idle_sec.get(), base::Seconds{5});
  EXPECT_EQ(settings.host.get(), "127.0.0.1");
}

TEST(AnySetting, TheStrongestSourceHoldsInWhateverOrderTheyCome) {
  Settings settings;

  ASSERT_TRUE(settings.poll_hold_sec.set({"3"}, Source::flag));
  ASSERT_TRUE(settings.poll_hold_sec.set({"1"}, Source::file));
  ASSERT_TRUE(settings.poll_hold_sec.set({"2"}, Source::environment));

  EXPECT_EQ(settings.poll_hold_sec.text(), "3");
  EXPECT_EQ(settings.poll_hold_sec.source(), Source::flag);
  settings.poll_hold_sec.unset(Source::flag);
  EXPECT_EQ(settings.poll_hold_sec.text(), "2");
  settings.poll_hold_sec.unset(Source::file);
  EXPECT_EQ(settings.poll_hold_sec.text(), "2");
  settings.poll_hold_sec.unset(Source::environment);
  EXPECT_EQ(settings.poll_hold_sec.text(), "30");
  EXPECT_EQ(settings.poll_hold_sec.source(), Source::fallback);
}

TEST(AnySetting, OneThatIsNoListTakesOneValue) {
  Settings settings;

  EXPECT_FALSE(settings.port.set({}, Source::file));
  EXPECT_FALSE(settings.port.set({"1", "2"}, Source::file));
  EXPECT_TRUE(settings.upstream.set({}, Source::file));
  EXPECT_TRUE(settings.upstream.set({"http://a:1", "http://b:2"}, Source::file));
  EXPECT_EQ(settings.upstream.text(), "http://a:1 http://b:2");
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

TEST(SwitchSetting, IsTrueOrFalse) {
  Settings settings;
  EXPECT_TRUE(settings.retrieve_futures.get());

  ASSERT_TRUE(settings.retrieve_futures.set({"false"}, Source::live));
  const auto set = settings.retrieve_futures.set({"off"}, Source::live);

  EXPECT_FALSE(settings.retrieve_futures.get());
  EXPECT_EQ(settings.retrieve_futures.text(), "false");
  ASSERT_FALSE(set);
  EXPECT_NE(set.error().text.find("true or false"), std::string::npos);
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
  EXPECT_EQ(settings.all.nearest("pol-hold-sec"), "poll_hold_sec");
  EXPECT_EQ(settings.all.nearest("zzzzzzzzzzzzzzzz"), "");
  EXPECT_EQ(settings.all.nearest(""), "");
  EXPECT_EQ(settings.all.nearest(std::string(1'000'000, 'z')), "");
}

}  // namespace
}  // namespace tinker::config
