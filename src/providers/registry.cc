#include "providers/registry.h"

#include <algorithm>
#include <cctype>

#include "providers/known_providers.h"

namespace rh {

namespace {

constexpr std::string_view kSuffix = "executionprovider";

std::string key_of(std::string_view name) {
  std::string key(name);
  std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (key.size() > kSuffix.size() && key.ends_with(kSuffix)) key.resize(key.size() - kSuffix.size());
  return key;
}

}  // namespace

const ProviderRegistry::Entry* ProviderRegistry::find(std::string_view name) const {
  const std::string key = key_of(name);
  const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return key_of(e.name) == key; });
  return at == entries_.end() ? nullptr : &*at;
}

void ProviderRegistry::add(std::string_view name, MakeProvider make) {
  if (const Entry* entry = find(name)) {
    entries_[static_cast<size_t>(entry - entries_.data())].make = make;
  } else {
    entries_.push_back({std::string(name), make});
  }
}

std::string ProviderRegistry::canonical_name(std::string_view name) const {
  const Entry* entry = find(name);
  return entry ? entry->name : std::string();
}

std::shared_ptr<Provider> ProviderRegistry::make(std::string_view name, const std::map<std::string, std::string>& options) const {
  if (const Entry* entry = find(name)) return entry->make(options);
  fail(ErrorCode::invalid_argument, "{}", why_unavailable(name, available()));
}

std::vector<std::string> ProviderRegistry::available() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

}  // namespace rh
