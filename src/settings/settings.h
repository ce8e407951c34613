#pragma once

#include <map>
#include <string>
#include <vector>

#include "settings/choices.h"
#include "settings/values.h"

namespace rh {

/// A configuration as it is given: texts by key.
using ConfigEntries = std::map<std::string, std::string, std::less<>>;

#define RH_SETTING(group, key, Type, field, initial, rule, shown, effect) Type field = initial;
#define RH_CHECKED(group, key, rule, effect)
#define RH_IGNORED(group, key, why)
#define RH_VARIABLE(group, name, values, effect)
#define RH_ARENA(key, shown, effect)

/// What the entries of a session's configuration say: a field a row of setting_list.inc, which says what it does.
struct Settings {
#include "settings/setting_list.inc"
};

/// Of a run's configuration: a field a row of run_setting_list.inc.
struct RunSettings {
#include "settings/run_setting_list.inc"
};

/// Of the environment's configuration: a field a row of environment_setting_list.inc.
struct EnvironmentSettings {
#include "settings/environment_setting_list.inc"
};

#undef RH_SETTING
#undef RH_CHECKED
#undef RH_IGNORED
#undef RH_VARIABLE
#undef RH_ARENA

/// Throws Error{invalid_argument} for a key of ours ("roundhouse.") that is none, naming the nearest one, and Error for a value that a key
/// does not take. Keys of others, and those without an effect, are left alone.
Settings read_settings(const ConfigEntries& entries);
RunSettings read_run_settings(const ConfigEntries& entries);
/// Keys of the environment are not held against the list: providers have their own.
EnvironmentSettings read_environment_settings(const ConfigEntries& entries);

/// The same, but wrong entries count as left out: for what must be known before a session is made, which then says what is wrong.
Settings glance_at_settings(const ConfigEntries& entries);

}  // namespace rh
