// SPDX-License-Identifier: Apache-2.0
#include "config/render.h"

#include "fixture.h"

namespace tinker::config {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

class RenderTest : public ConfigTest {};

TEST_F(RenderTest, HelpShowsEverySettingOnce) {
  const std::string help = help_text(settings);

  for (const AnySetting* setting : settings.all.list()) {
    EXPECT_EQ(count(help, "\n  " + setting->flag() + " " + setting->about().value), 1u) << setting->flag();
  }
  EXPECT_NE(
      help.find("\n  --poll-hold-sec SECONDS\n      Longest wait of a poll before it is answered without a result; below the\n"
                "      SDK's 45 s. [0.1 … 44 s; default 30 s; live]\n"),
      std::string::npos)
      << help;
}

TEST_F(RenderTest, HelpFitsATerminal) {
  std::istringstream help(help_text(settings));
  for (std::string line; std::getline(help, line);) {
    const std::size_t columns = line.size() - 2 * count(line, "…");
    EXPECT_LE(columns, 80u) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST_F(RenderTest, TheManualHoldsTheEntriesOfThisRelease) {
  const std::string page = read(TINKER_VECTORS "/../../man/tinkerd.8");

  EXPECT_NE(page.find(manual_entries(settings)), std::string::npos) << "the section SETTINGS of man/tinkerd.8 must hold:\n"
                                                                    << manual_entries(settings);
}

TEST_F(RenderTest, TroffTakesNoLineForACommand) {
  std::istringstream entries(manual_entries(settings));
  for (std::string line; std::getline(entries, line);) {
    if (line.starts_with('.')) {
      EXPECT_TRUE(line == ".TP" || line == ".br" || line.starts_with(".B ")) << line;
    }
    EXPECT_FALSE(line.starts_with('\'')) << line;
  }
}

TEST_F(RenderTest, TheExampleFileExplainsEverySetting) {
  const std::string example = example_file(settings);

  for (const AnySetting* setting : settings.all.list())
    EXPECT_EQ(count(example, "\n#" + setting->about().name + " = "), 1u) << setting->about().name;
  EXPECT_NE(example.find("\n# Most connections to the upstream, so most samples in flight there; others wait\n"
                         "# in a queue that is fair between sampling sessions.\n# 1 … 1000000 or None connections; live\n"
                         "#forwarding_inference_max_connections = 2048\n"),
            std::string::npos)
      << example;
  EXPECT_NE(example.find("\n#upstream = []\n"), std::string::npos);
  EXPECT_NE(example.find("\n#host = \"127.0.0.1\"\n"), std::string::npos);
}

}  // namespace
}  // namespace tinker::config
