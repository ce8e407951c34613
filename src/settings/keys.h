#pragma once

#include "settings/settings.h"

namespace rh {

/// The key of a field, for messages: kKeyOf<&Settings::memory>.
template <auto Field>
inline constexpr const char* kKeyOf = nullptr;

#define RH_CHECKED(group, key, rule, effect)
#define RH_IGNORED(group, key, why)
#define RH_VARIABLE(group, name, values, effect)
#define RH_ARENA(key, shown, effect)

#define RH_SETTING(group, key, Type, field, initial, rule, shown, effect) \
  template <>                                                             \
  inline constexpr const char* kKeyOf<&Settings::field> = key;
#include "settings/setting_list.inc"
#undef RH_SETTING
#define RH_SETTING(group, key, Type, field, initial, rule, shown, effect) \
  template <>                                                             \
  inline constexpr const char* kKeyOf<&RunSettings::field> = key;
#include "settings/run_setting_list.inc"
#undef RH_SETTING
#define RH_SETTING(group, key, Type, field, initial, rule, shown, effect) \
  template <>                                                             \
  inline constexpr const char* kKeyOf<&EnvironmentSettings::field> = key;
#include "settings/environment_setting_list.inc"
#undef RH_SETTING

#undef RH_CHECKED
#undef RH_IGNORED
#undef RH_VARIABLE
#undef RH_ARENA

}  // namespace rh
