#include "settings/settings.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "settings/keys.h"

namespace rh::setting {
namespace {

/// Texts that a rule takes, with what they give, and texts that it refuses or leaves alone.
template <typename T>
struct Samples {
  std::vector<std::pair<std::string, T>> valid;
  std::vector<std::string> wrong, ignored;
};

Samples<bool> samples_of(const Flag& rule) {
  if (rule.refusal.unknown == Unknown::is_error) return {{{"0", false}, {"1", true}}, {"", "2", "true", " 1"}, {}};
  return {{{"0", false}, {"1", true}}, {"2", "true", " 1"}, {""}};
}

Samples<bool> samples_of(const Switch& rule) {
  Samples<bool> samples{{{std::string(rule.text), rule.value}, {"2", !rule.value}, {"true", !rule.value}}, {}, {}};
  if (rule.empty_counts) {
    samples.valid.emplace_back("", !rule.value);
  } else {
    samples.ignored.emplace_back();
  }
  return samples;
}

template <typename T>
Samples<T> samples_of(const Number<T>& rule) {
  Samples<T> samples{{{std::to_string(rule.least), rule.least}}, {"much", "1.5", " 1", "99999999999999999999"}, {}};
  const T last = rule.most / rule.step * rule.step;
  samples.valid.emplace_back(std::to_string(last), last);
  if (rule.least != std::numeric_limits<T>::lowest()) samples.wrong.push_back(std::to_string(rule.least - rule.step));
  if (rule.most != std::numeric_limits<T>::max()) samples.wrong.push_back(std::to_string(rule.most + rule.step));
  if (rule.step != 1) samples.wrong.push_back(std::to_string(rule.least + 1));
  (rule.refusal.unknown == Unknown::is_error ? samples.wrong : samples.ignored).emplace_back();
  if (std::is_unsigned_v<T>) samples.wrong = {"much", "1.5", " 1", "-1", "99999999999999999999"};
  if (std::is_unsigned_v<T> && rule.least > 0) samples.wrong.push_back(std::to_string(rule.least - 1));
  return samples;
}

template <typename E, size_t N>
Samples<E> samples_of(const Choice<E, N>& rule) {
  Samples<E> samples;
  for (const Named<E>& named : rule.values) samples.valid.emplace_back(named.name, named.value);
  const std::string near = samples.valid[0].first + "x";
  (rule.refusal.unknown == Unknown::is_ignored ? samples.ignored : samples.wrong) = {near, "something else", "3"};
  (rule.refusal.unknown == Unknown::is_error ? samples.wrong : samples.ignored).emplace_back();
  return samples;
}

template <size_t N>
Samples<NoField> samples_of(const Word<N>& rule) {
  Samples<NoField> samples{{}, {"something else", "3"}, {""}};
  for (std::string_view word : rule.words) samples.valid.emplace_back(word, NoField());
  return samples;
}

Samples<std::string> samples_of(const Text&) { return {{{"", ""}, {"any text, of all", "any text, of all"}, {"1", "1"}}, {}, {}}; }

Samples<ProcessorSets> samples_of(const Parsed<ProcessorSets>&) {
  return {{{"1", {{0}}}, {"1,2;3-5", {{0, 1}, {2, 3, 4}}}, {"1;", {{0}}}}, {"", "0", "first", "2-1"}, {}};
}
Samples<ShapesByName> samples_of(const Parsed<ShapesByName>&) {
  return {{{"x:[8,128];y:[8]", {{"x", {8, 128}}, {"y", {8}}}}, {"a:0:[1]", {{"a:0", {1}}}}, {"", {}}},
          {"x", "x:8", "x:[]", "x:[0]", "x:[1,]", "x:[1,-2]", ":[1]", "x:[one]"},
          {}};
}
Samples<std::vector<Device>> samples_of(const Parsed<std::vector<Device>>&) {
  const Device gpu{.type = Device::Type::gpu, .id = 1};
  return {{{"cpu", {Device()}}, {"cpu:0;gpu:1", {Device(), gpu}}, {"", {}}}, {"tpu", "cpu:x", "gpu:-1", ";cpu"}, {}};
}
Samples<std::vector<std::string>> samples_of(const Parsed<std::vector<std::string>>&) {
  return {{{"a", {"a"}}, {"a;b,c", {"a", "b", "c"}}, {"", {}}}, {}, {}};
}
Samples<size_t> samples_of(const Parsed<size_t>&) { return {{{"1024", 1024}, {"12 bytes", 12}, {"much", 0}, {"", 0}}, {}, {}}; }
Samples<std::string> samples_of(const Parsed<std::string>&) {
  return {{{"gpu(encoder,=head)", "gpu(encoder,=head)"}, {"a(b);c(d)", "a(b);c(d)"}, {"", ""}}, {"gpu", "(a)", "gpu(a"}, {}};
}
Samples<NoField> samples_of(const Parsed<NoField>&) {
  return {{{"moe:max_resident_slots=2,device_expert_bytes=4096;n:max_resident_slots=0", {}}, {"{}", {}}, {"", {}}},
          {"moe", "moe:", ":max_resident_slots=2", "moe:slots=2", "moe:max_resident_slots=-1", "moe:max_resident_slots"},
          {}};
}

/// Of what a rule refuses, the code; that of Parsed is its function's.
template <typename Rule>
std::optional<ErrorCode> code_of(const Rule& rule) {
  if constexpr (requires { rule.refusal; }) return rule.refusal.code;
  return std::nullopt;
}

/// What a session, a run or the environment reads, as tests of a row call it.
struct OfSessions {
  static auto read(const ConfigEntries& entries) { return read_settings(entries); }
};
struct OfRuns {
  static auto read(const ConfigEntries& entries) { return read_run_settings(entries); }
};
struct OfEnvironments {
  static auto read(const ConfigEntries& entries) { return read_environment_settings(entries); }
};

template <typename Rule>
void expect_errors(const char* key, const Rule& rule, const std::vector<std::string>& texts,
                   const std::function<void(const ConfigEntries&)>& read) {
  for (const std::string& text : texts) {
    try {
      read({{key, text}});
      ADD_FAILURE() << key << " takes '" << text << "'";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code_of(rule).value_or(error.code())) << key << " " << text;
      const bool names_key = error.message().find(key) != std::string::npos;
      EXPECT_TRUE(names_key && error.message().find("expected") != std::string::npos) << error.message();
    }
  }
}

template <typename Of, typename Rule, typename Get>
void check_row(const char* key, const Rule& rule, Get&& get) {
  const auto samples = samples_of(rule);
  for (const auto& [text, value] : samples.valid) EXPECT_TRUE(get(Of::read({{key, text}})) == value) << key << " = '" << text << "'";
  for (const std::string& text : samples.ignored)
    EXPECT_TRUE(get(Of::read({{key, text}})) == get(Of::read({}))) << key << " = '" << text << "'";
  expect_errors(key, rule, samples.wrong, [](const ConfigEntries& entries) { Of::read(entries); });
  if constexpr (std::is_same_v<Of, OfSessions>) {
    for (const std::string& text : samples.wrong) {
      EXPECT_TRUE(get(glance_at_settings({{key, text}})) == get(Settings())) << key << " = '" << text << "'";
    }
  }
}

template <typename Rule>
void check_values(const char* key, const Rule& rule) {
  const auto samples = samples_of(rule);
  for (const auto& [text, value] : samples.valid) EXPECT_NO_THROW(read_settings({{key, text}})) << text;
  for (const std::string& text : samples.ignored) EXPECT_NO_THROW(read_settings({{key, text}})) << text;
  for (const std::string& text : samples.wrong) EXPECT_NO_THROW(glance_at_settings({{key, text}})) << text;
  expect_errors(key, rule, samples.wrong, [](const ConfigEntries& entries) { read_settings(entries); });
}

#define RH_VARIABLE(group, name, values, effect)
#define RH_ARENA(key, shown, effect)
#define RH_CHECKED(group, key, rule, effect) check_values(key, rule);
#define RH_IGNORED(group, key, why) EXPECT_NO_THROW(read_settings({{key, "whatever"}})) << key;

#define RH_SETTING(group, key, Type, field, initial, rule, shown, effect) \
  check_row<OfSessions>(key, rule, [](const Settings& settings) { return settings.field; });
TEST(Settings, EachRowOfSessionsTakesItsValuesAndRefusesOthers) {
#include "settings/setting_list.inc"
}
#undef RH_SETTING
#undef RH_IGNORED

#define RH_IGNORED(group, key, why) EXPECT_NO_THROW(read_run_settings({{key, "whatever"}})) << key;
#define RH_SETTING(group, key, Type, field, initial, rule, shown, effect) \
  check_row<OfRuns>(key, rule, [](const RunSettings& settings) { return settings.field; });
TEST(Settings, EachRowOfRunsTakesItsValuesAndRefusesOthers) {
#include "settings/run_setting_list.inc"
}
#undef RH_SETTING

#define RH_SETTING(group, key, Type, field, initial, rule, shown, effect) \
  check_row<OfEnvironments>(key, rule, [](const EnvironmentSettings& settings) { return settings.field; });
TEST(Settings, EachRowOfEnvironmentsTakesItsValuesAndRefusesOthers) {
#include "settings/environment_setting_list.inc"
}
#undef RH_SETTING
#undef RH_CHECKED
#undef RH_IGNORED
#undef RH_VARIABLE
#undef RH_ARENA

TEST(Settings, NoKeyHasTwoRows) {
  std::multiset<std::string> keys = {
#define RH_SETTING(group, key, Type, field, initial, rule, shown, effect) key,
#define RH_CHECKED(group, key, rule, effect) key,
#define RH_IGNORED(group, key, why) key,
#include "settings/setting_list.inc"
#undef RH_SETTING
#undef RH_CHECKED
#undef RH_IGNORED
  };
  for (const std::string& key : keys) EXPECT_EQ(keys.count(key), 1u) << key;
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.message();
  }
  return "no error";
}

TEST(Settings, UnknownKeysOfOursNameTheNearestAndOthersAreLeftAlone) {
  const std::string session = message_of([] { read_settings({{"roundhouse.memori", "lean"}}); });
  EXPECT_TRUE(session.starts_with("there is no config entry 'roundhouse.memori', expected one of: roundhouse.precision, ")) << session;
  EXPECT_TRUE(session.ends_with("; the nearest is 'roundhouse.memory'")) << session;
  const std::string run = message_of([] { read_run_settings({{"roundhouse.precision", "strict"}}); });
  EXPECT_TRUE(run.starts_with("there is no config entry 'roundhouse.precision', expected one of: roundhouse.run.timeout_ms, ")) << run;
  const ConfigEntries others = {{"session.no_such_key", "1"}, {"ep.mine.threads", "x"}, {"", ""}};
  EXPECT_NO_THROW(read_settings(others));
  EXPECT_NO_THROW(read_run_settings(others));
  EXPECT_NO_THROW(read_environment_settings({{"roundhouse.no_such_key", "1"}}));
  EXPECT_NO_THROW(glance_at_settings({{"roundhouse.no_such_key", "1"}}));
}

TEST(Settings, WrongValuesAreToldWithWhatIsExpected) {
  const struct {
    const char *key, *text, *message;
  } rows[] = {
      {"roundhouse.memory", "leen", "is 'leen', expected one of: fast, lean; the nearest is 'lean'"},
      {"roundhouse.memory.reuse", "yes", "is 'yes', expected 0 or 1"},
      {"roundhouse.memory.max_tensor_bytes", "0", "is '0', expected a number of bytes from 1 on"},
      {"session.intra_op_num_threads", "two", "is 'two', expected an integer"},
      {"session.external_data_loader.chunk_bytes", "5000", "is '5000', expected a number from 4096 to 67108864, a multiple of 4096"},
      {"roundhouse.plugin.timeout_ms", "soon", "is 'soon', expected a number of milliseconds from 0 on, 0 for no limit"},
      {"session.graph_optimization_level", "enable_al", "the nearest is 'enable_all'"},
  };
  for (const auto& row : rows) {
    const std::string message = message_of([&] { read_settings({{row.key, row.text}}); });
    EXPECT_TRUE(message.starts_with("config entry '" + std::string(row.key) + "' ")) << message;
    EXPECT_NE(message.find(row.message), std::string::npos) << message;
  }
}

TEST(Settings, WithoutPrepackingMemoryIsLeanUnlessTheEntriesSayWhatItIs) {
  EXPECT_EQ(read_settings({}).memory, std::nullopt);
  EXPECT_EQ(read_settings({{"session.disable_prepacking", "1"}}).memory, MemoryPolicy::lean);
  EXPECT_EQ(read_settings({{"session.disable_prepacking", "0"}}).memory, std::nullopt);
  EXPECT_EQ(read_settings({{"session.disable_prepacking", "1"}, {"roundhouse.memory", "fast"}}).memory, MemoryPolicy::fast);
}

TEST(Settings, WrongEntriesAreLeftOutAtAGlanceAndTheOthersCount) {
  const Settings settings = glance_at_settings({{"roundhouse.memory", "leen"}, {"roundhouse.fallback", "warn"}, {"session.log_id", "a"}});
  EXPECT_EQ(settings.memory, std::nullopt);
  EXPECT_EQ(settings.fallback, Fallback::warn);
  EXPECT_EQ(settings.log_id, "a");
}

TEST(Settings, FieldsKnowTheirKeys) {
  EXPECT_STREQ(kKeyOf<&Settings::memory>, "roundhouse.memory");
  EXPECT_STREQ(kKeyOf<&RunSettings::recording>, "gpu_graph_id");
  EXPECT_EQ(kPrecisions.name_of(Precision::bf16), "bf16");
}

}  // namespace
}  // namespace rh::setting
