#include "settings/settings.h"

#include <algorithm>

namespace rh {

using namespace setting;

namespace {

/// A key, and what puts its text into the field.
template <typename Fields>
struct Row {
  std::string_view key;
  void (*read)(Entry entry, Fields& to);
};

#define RH_SETTING(group, key, Type, field, initial, rule, shown, effect) \
  {key, [](Entry entry, auto& to) {                                       \
     static constexpr auto kRule = rule;                                  \
     read(kRule, entry, to.field);                                        \
   }},
#define RH_CHECKED(group, key, rule, effect) \
  {key, [](Entry entry, auto&) {             \
     static constexpr auto kRule = rule;     \
     NoField none;                           \
     read(kRule, entry, none);               \
   }},
#define RH_IGNORED(group, key, why)
#define RH_VARIABLE(group, name, values, effect)
#define RH_ARENA(key, shown, effect)

constexpr Row<Settings> kSessionRows[] = {
#include "settings/setting_list.inc"
};
constexpr Row<RunSettings> kRunRows[] = {
#include "settings/run_setting_list.inc"
};
constexpr Row<EnvironmentSettings> kEnvironmentRows[] = {
#include "settings/environment_setting_list.inc"
};

#undef RH_SETTING
#undef RH_CHECKED
#undef RH_IGNORED
#undef RH_VARIABLE
#undef RH_ARENA

constexpr std::string_view kOwn = "roundhouse.";

/// What becomes of entries that are wrong.
enum class Wrong : uint8_t { is_error, is_left_out };

template <typename Fields>
[[noreturn]] void fail_unknown(std::span<const Row<Fields>> rows, std::string_view key) {
  std::vector<std::string_view> own;
  for (const Row<Fields>& row : rows) {
    if (row.key.starts_with(kOwn)) own.push_back(row.key);
  }
  fail(ErrorCode::invalid_argument, "there is no config entry '{}', expected {}", key, expected_words(own, key));
}

template <typename Fields>
Fields read_entries(std::span<const Row<Fields>> rows, const ConfigEntries& entries, Wrong wrong, bool knows_own = true) {
  Fields fields;
  for (const auto& [key, text] : entries) {
    const auto row = std::ranges::find(rows, key, &Row<Fields>::key);
    try {
      if (row != rows.end()) {
        row->read({key, text}, fields);
      } else if (knows_own && key.starts_with(kOwn)) {
        fail_unknown(rows, key);
      }
    } catch (const Error&) {
      if (wrong == Wrong::is_error) throw;
    }
  }
  return fields;
}

Settings read_session_entries(const ConfigEntries& entries, Wrong wrong) {
  Settings settings = read_entries<Settings>(kSessionRows, entries, wrong);
  if (!settings.memory && settings.disable_prepacking == true) settings.memory = MemoryPolicy::lean;
  return settings;
}

}  // namespace

Settings read_settings(const ConfigEntries& entries) { return read_session_entries(entries, Wrong::is_error); }
Settings glance_at_settings(const ConfigEntries& entries) { return read_session_entries(entries, Wrong::is_left_out); }
RunSettings read_run_settings(const ConfigEntries& entries) { return read_entries<RunSettings>(kRunRows, entries, Wrong::is_error); }
EnvironmentSettings read_environment_settings(const ConfigEntries& entries) {
  return read_entries<EnvironmentSettings>(kEnvironmentRows, entries, Wrong::is_error, false);
}

}  // namespace rh
