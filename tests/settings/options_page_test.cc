#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "settings/settings.h"

namespace rh::setting {
namespace {

const std::filesystem::path kPage = std::filesystem::path(RH_TEST_DATA).parent_path().parent_path() / "docs/options.md";
constexpr size_t kWidest = 160;

std::string backticked(std::string_view text) { return "`" + std::string(text) + "`"; }

/// Marks the default among values; one that is none of them stands behind them.
std::string with_default(const std::vector<std::string>& values, const std::string& shown) {
  std::string text;
  bool is_marked = false;
  for (const std::string& value : values) {
    const bool is_default = value == backticked(shown);
    is_marked |= is_default;
    text += (text.empty() ? "" : ", ") + value + (is_default ? " (default)" : "");
  }
  return is_marked || shown.empty() ? text : text + "; default: " + shown;
}

std::vector<std::string> values_of(const Flag&) { return {"`0`", "`1`"}; }
std::vector<std::string> values_of(const Switch& rule) { return {backticked(rule.text)}; }
std::vector<std::string> values_of(const Text& rule) { return {std::string(rule.form)}; }
template <typename T>
std::vector<std::string> values_of(const Parsed<T>& rule) {
  return {std::string(rule.form)};
}
template <typename E, size_t N>
std::vector<std::string> values_of(const Choice<E, N>& rule) {
  std::vector<std::string> values;
  for (const Named<E>& named : rule.values) values.push_back(backticked(named.name));
  return values;
}
template <size_t N>
std::vector<std::string> values_of(const Word<N>& rule) {
  std::vector<std::string> values;
  for (std::string_view word : rule.words) values.push_back(backticked(word));
  return values;
}
template <typename T>
std::vector<std::string> values_of(const Number<T>& rule) {
  if (rule.most != std::numeric_limits<T>::max() || rule.step != 1) return {expected(rule).substr(std::string_view("a number ").size())};
  return {rule.unit.empty() ? "a number" : std::string(rule.unit)};
}

struct Row {
  std::string_view group;
  std::string key, values, effect;
};

std::vector<Row> all_rows() {
  return {
#define RH_SETTING(group, key, Type, field, initial, rule, shown, effect) {#group, key, with_default(values_of(rule), shown), effect},
#define RH_CHECKED(group, key, rule, effect) {#group, key, with_default(values_of(rule), ""), effect},
#define RH_IGNORED(group, key, why) {#group, key, "", why},
#define RH_VARIABLE(group, name, values, effect) {#group, name, values, effect},
#define RH_ARENA(key, shown, effect) {"arena", key, shown, effect},
#include "settings/environment_setting_list.inc"
#include "settings/run_setting_list.inc"
#include "settings/setting_list.inc"
#undef RH_SETTING
#undef RH_CHECKED
#undef RH_IGNORED
#undef RH_VARIABLE
#undef RH_ARENA
  };
}

/// Rows of two columns; keys in a row that have the same explanation share one, as far as they fit.
std::string explanations(std::string_view group) {
  std::string text = "| key | why |\n| --- | --- |\n", keys, why;
  const auto end_row = [&] {
    if (!keys.empty()) text += "| " + keys + " | " + why + " |\n";
    keys.clear();
  };
  for (const Row& row : all_rows()) {
    if (row.group != group) continue;
    const bool shares = row.effect == why && keys.size() + row.key.size() + why.size() + 11 <= kWidest;
    if (!shares) end_row();
    keys += (keys.empty() ? "" : ", ") + backticked(row.key);
    why = row.effect;
  }
  end_row();
  return text;
}

std::string table(std::string_view group) {
  if (group.ends_with("ignored")) return explanations(group);
  std::string text = fmt::format("| key | {} | effect |\n| --- | --- | --- |\n", group == "arena" ? "default" : "values");
  for (const Row& row : all_rows()) {
    if (row.group == group) text += fmt::format("| {} | {} | {} |\n", backticked(row.key), row.values, row.effect);
  }
  return text;
}

/// The page with the tables that its marks ask for: "<!-- settings: threads -->" to "<!-- end -->".
std::string renewed(const std::string& page, std::set<std::string>& groups) {
  constexpr std::string_view kBegin = "<!-- settings: ", kClose = " -->\n", kEnd = "<!-- end -->\n";
  std::string text;
  size_t at = 0;
  for (size_t begin; (begin = page.find(kBegin, at)) != std::string::npos;) {
    const size_t name = begin + kBegin.size(), close = page.find(kClose, name), end = page.find(kEnd, name);
    if (close == std::string::npos || end == std::string::npos) break;
    const std::string group = page.substr(name, close - name);
    groups.insert(group);
    text += page.substr(at, close + kClose.size() - at) + "\n" + table(group) + "\n";
    at = end;
  }
  return text + page.substr(at);
}

std::string read_page() {
  std::ostringstream text;
  text << std::ifstream(kPage, std::ios::binary).rdbuf();
  return std::move(text).str();
}

TEST(OptionsPage, IsCurrent) {
  const std::string page = read_page();
  std::set<std::string> groups;
  const std::string expected = renewed(page, groups);
  if (std::getenv("RH_WRITE_PAGES")) std::ofstream(kPage, std::ios::binary) << expected;
  EXPECT_TRUE(read_page() == expected) << kPage << " is out of date: RH_WRITE_PAGES=1 test_settings --gtest_filter=OptionsPage.* writes it";
  for (const Row& row : all_rows()) EXPECT_TRUE(groups.contains(std::string(row.group))) << "no table has the row of " << row.key;
}

TEST(OptionsPage, EffectsAreLines) {
  for (const Row& row : all_rows()) {
    EXPECT_LE(row.effect.size(), kWidest) << row.key << ": move the rest below the table";
    EXPECT_EQ(row.effect.find('\n'), std::string::npos) << row.key;
    EXPECT_FALSE(row.effect.empty()) << row.key;
  }
}

}  // namespace
}  // namespace rh::setting
