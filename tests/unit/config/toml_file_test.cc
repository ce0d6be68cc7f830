// SPDX-License-Identifier: Apache-2.0
#include "config/toml_file.h"

#include "fixture.h"

namespace tinker::config {
namespace {

class TomlFileTest : public ConfigTest {
 protected:
  base::Result<std::vector<Entry>> read_text(const std::string& text) const {
    return read_toml(settings, file("t.toml", text));
  }
  std::vector<std::string> values_of(const std::string& text) const {
    const auto entries = read_text(text);
    if (!entries) return {entries.error().text};
    EXPECT_EQ(entries->size(), 1u);
    return entries->empty() ? std::vector<std::string>{} : entries->front().values;
  }
};

TEST_F(TomlFileTest, TakesTheFormsThatPeopleWrite) {
  using Values = std::vector<std::string>;

  EXPECT_EQ(values_of("port = 1\n"), Values{"1"});
  EXPECT_EQ(values_of("  port=1"), Values{"1"});
  EXPECT_EQ(values_of("port = 1 # the other one is taken\n"), Values{"1"});
  EXPECT_EQ(values_of("# port = 2\n\nport = \"1\"\r\n"), Values{"1"});
  EXPECT_EQ(values_of("poll-hold-sec = 1.5\n"), Values{"1.5"});
  EXPECT_EQ(values_of("access_log = '/var/log/a b#c.log'\n"), Values{"/var/log/a b#c.log"});
  EXPECT_EQ(values_of("access_log = \"\"\n"), Values{""});
  EXPECT_EQ(values_of("upstream = \"http://a:1\"\n"), Values{"http://a:1"});
  EXPECT_EQ(values_of("upstream = [\"http://a:1\", 'http://b:2']\n"), (Values{"http://a:1", "http://b:2"}));
  EXPECT_EQ(values_of("upstream = [\n  \"http://a:1\",\n  \"http://b:2\",\n]\n"), (Values{"http://a:1", "http://b:2"}));
}

TEST_F(TomlFileTest, AnEmptyFileSaysNothing) {
  const auto entries = read_text("");

  ASSERT_TRUE(entries);
  EXPECT_TRUE(entries->empty());
}

TEST_F(TomlFileTest, ReadsTomlsTexts) {
  using Values = std::vector<std::string>;

  EXPECT_EQ(values_of(R"(access_log = "a\tb\"c\\d\u00e9\U0001F600")"), Values{"a\tb\"c\\d\xC3\xA9\xF0\x9F\x98\x80"});
  EXPECT_EQ(values_of(R"(access_log = 'C:\temp\n')"), Values{R"(C:\temp\n)"});
  EXPECT_EQ(values_of("max_body_bytes = 1_048_576\n"), Values{"1048576"});
  EXPECT_EQ(values_of("upstream = []"), Values{});
  EXPECT_EQ(values_of("upstream = [ # none yet\n]"), Values{});
  EXPECT_EQ(values_of("\xEF\xBB\xBFport = 1"), Values{"1"});
}

TEST_F(TomlFileTest, KnowsTheLineOfEachEntry) {
  const auto entries = read_text("# one\n\nport = 1\nupstream = [\n 'http://a:1',\n]\nworkers = 2\n");

  ASSERT_TRUE(entries) << entries.error().text;
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].where, dir + "/t.toml:3");
  EXPECT_EQ((*entries)[1].where, dir + "/t.toml:4");
  EXPECT_EQ((*entries)[2].where, dir + "/t.toml:7");
}

TEST_F(TomlFileTest, RefusesWhatItWouldHaveToGuess) {
  struct Case {
    std::string text;
    const char* said;
  };
  for (const Case& test : {Case{"pol_hold_sec = 3\n", "there is no setting 'pol_hold_sec'; did you mean 'poll_hold_sec'?"},
                           Case{"[server]\nport = 1\n", "a section"},
                           Case{"[server]\n", "a section"},
                           Case{"[broken\n", "a section"},
                           Case{"server.port = 1\n", "expected server = VALUE"},
                           Case{"port = 2\nport = 2\n", "port stands twice"},
                           Case{"poll_hold_sec = 1\npoll-hold-sec = 2\n", "stands twice"},
                           Case{"some words\n", "expected some = VALUE"},
                           Case{"port\n", "expected port = VALUE"},
                           Case{"x", "expected x = VALUE"},
                           Case{"= 1\n", "expected NAME = VALUE"},
                           Case{"%\n", "expected NAME = VALUE"},
                           Case{std::string("\0\n", 2), "expected NAME = VALUE"},
                           Case{"port =\n", "port: expected a value"},
                           Case{"port = # 1\n", "port: expected a value"},
                           Case{"port = 1 2\n", "port: expected nothing more"},
                           Case{"port = 1, 2\n", "port: expected nothing more"},
                           Case{"port = 1 workers = 2\n", "port: expected nothing more"},
                           Case{"log_level = info\n", "log_level: a text needs quotes: \"info\""},
                           Case{"access_log = \"a\nb\"\n", "closing \""},
                           Case{"access_log = \"a", "closing \""},
                           Case{"access_log = 'a\n'", "closing '"},
                           Case{"access_log = \"\"\"a\"\"\"\n", "expected nothing more"},
                           Case{"access_log = \"a\\", "escape"},
                           Case{"access_log = \"C:\\windows\"\n", "escape"},
                           Case{"access_log = \"\\u12\"\n", "escape"},
                           Case{"access_log = \"\\ud800\"\n", "escape"},
                           Case{"access_log = \"\\UFFFFFFFF\"\n", "escape"},
                           Case{"upstream = [\"a\" \"b\"]\n", "expected , or ]"},
                           Case{"upstream = [\"a\",\n", "upstream: expected a value"},
                           Case{"upstream = [\"a\"", "expected , or ]"},
                           Case{"upstream = [[\"a\"]]\n", "upstream: a text needs quotes"},
                           Case{"upstream = {a = 1}\n", "upstream: a text needs quotes"}}) {
    const auto entries = read_text(test.text);

    ASSERT_FALSE(entries) << test.text;
    EXPECT_TRUE(entries.error().text.starts_with(dir + "/t.toml:")) << entries.error().text;
    EXPECT_NE(entries.error().text.find(test.said), std::string::npos) << entries.error().text;
  }
}

TEST_F(TomlFileTest, NamesTheLineThatIsWrong) {
  const auto entries = read_text("# one\nupstream = [\n  'http://a:1',\n  http://b:2,\n]\n");

  ASSERT_FALSE(entries);
  EXPECT_TRUE(entries.error().text.starts_with(dir + "/t.toml:4: upstream: a text needs quotes")) << entries.error().text;
}

// Whatever a file holds, reading ends with entries or an error.
TEST_F(TomlFileTest, ReadsDamagedFilesToAnEnd) {
  const std::string whole = "# c\nport = 1_0 # x\nupstream = [\n 'a', # b\n \"\\u00e9\\\\\",\n]\naccess_log = \"x\"\n";
  for (std::size_t i = 0; i <= whole.size(); ++i) {
    (void)read_text(whole.substr(0, i));
    for (const char c : {'\0', '"', '\'', '[', ']', '\\', '\n', '=', '#', '\xff'}) {
      std::string changed = whole;
      changed.insert(i, 1, c);
      const auto entries = read_text(changed);
      if (!entries) {
        EXPECT_FALSE(entries.error().text.empty());
      }
    }
  }
}

TEST_F(TomlFileTest, SaysWhyItCannotBeOpened) {
  const auto entries = read_toml(settings, dir + "/absent.toml");

  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, base::Code::not_found);
  EXPECT_NE(entries.error().text.find("No such file"), std::string::npos);
}

TEST_F(TomlFileTest, ADirectoryIsNoFile) {
  const auto entries = read_toml(settings, dir);

  ASSERT_FALSE(entries);
  EXPECT_NE(entries.error().text.find(dir), std::string::npos);
}

TEST_F(TomlFileTest, ReadsTheLinesThatItWrites) {
  for (const std::string text :
       {"plain", "", "with # and , and = and [x]", "with \"quotes\"", "C:\\path", "it's", "a\tb\nc", "\xC3\xA9"}) {
    EXPECT_EQ(values_of(toml_line(settings.access_log, {text}) + "\n"), std::vector{text})
        << toml_line(settings.access_log, {text});
  }
  EXPECT_EQ(toml_line(settings.port, {"8000"}), "port = 8000");
  EXPECT_EQ(values_of(toml_line(settings.upstream, {"http://a:1", "http://b:2"}) + "\n"),
            (std::vector<std::string>{"http://a:1", "http://b:2"}));
}

}  // namespace
}  // namespace tinker::config
