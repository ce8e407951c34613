#include "providers/known_providers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <span>

#include "base/dynamic_library.h"
#include "base/environment.h"
#include "base/nearest.h"
#include "base/paths.h"

namespace rh {

namespace {

constexpr KnownProvider kKnown[] = {
#define RH_PROVIDER(name, short_name, key, systems, fate) {name, short_name, key, systems, fate},
#include "providers/known_providers.inc"
#undef RH_PROVIDER
};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// The known or registered name nearest to `name`, upper and lower case alike; empty where none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& registered) {
  std::vector<std::string> spelt, full;
  const auto offer = [&](std::string_view candidate, std::string_view means) {
    spelt.push_back(lower(candidate));
    full.emplace_back(means);
  };
  for (const std::string& candidate : registered) offer(candidate, candidate);
  for (const KnownProvider& known : kKnown) {
    offer(known.name, known.name);
    offer(known.short_name, known.name);
  }
  const std::vector<std::string_view> candidates(spelt.begin(), spelt.end());
  const std::string_view best = nearest(lower(name), candidates);
  return best.empty() ? std::string() : full[static_cast<size_t>(std::ranges::find(candidates, best) - candidates.begin())];
}

}  // namespace

std::span<const KnownProvider> known_providers() { return kKnown; }

const KnownProvider* find_known_provider(std::string_view name) {
  const std::string wanted = lower(name);
  const auto at =
      std::ranges::find_if(kKnown, [&](const KnownProvider& k) { return lower(k.name) == wanted || lower(k.short_name) == wanted; });
  return at == std::end(kKnown) ? nullptr : &*at;
}

std::string provider_file(std::string_view key) { return fmt::format("roundhouse_provider_{}{}", key, kLibrarySuffix); }

std::vector<std::filesystem::path> provider_folders() {
  std::vector<std::filesystem::path> folders;
  const std::string listed = environment_variable("ROUNDHOUSE_PROVIDER_PATH").value_or("");
  for (std::string_view rest = listed; !rest.empty();) {
    const size_t end = std::min(rest.find(kPathSeparator), rest.size());
    if (end > 0) folders.push_back(as_path(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (auto own = own_library_folder(); !own.empty()) folders.push_back(std::move(own));
  return folders;
}

std::filesystem::path find_provider_library(const KnownProvider& provider) {
  if (provider.key.empty()) return {};
  for (const auto& folder : provider_folders()) {
    std::error_code ignored;
    std::filesystem::path file = folder / provider_file(provider.key);
    if (std::filesystem::is_regular_file(file, ignored)) return file;
  }
  return {};
}

VendorFilesState vendor_state(const KnownProvider& provider) {
  const VendorFiles* vendor = provider.key.empty() ? nullptr : vendor_files(provider.key);
  return vendor ? look_for_vendor(*vendor) : VendorFilesState();
}

bool is_ready(const KnownProvider& provider) {
  if (provider.key.empty() || find_provider_library(provider).empty()) return false;
  if (!vendor_files(provider.key)) return provider.systems == kSystemName;  // what it needs is a part of the one system that it is for
  return vendor_state(provider).problem.empty();
}

std::string why_unavailable(std::string_view name, const std::vector<std::string>& registered) {
  const KnownProvider* known = find_known_provider(name);
  if (!known) {
    const std::string near = nearest_name(name, registered);
    return fmt::format("no execution provider is called '{}'{}; available: {}; name one of them, or register its library first", name,
                       near.empty() ? "" : "; the nearest name is '" + near + "'", fmt::join(registered, ", "));
  }
  if (!known->fate.empty()) return fmt::format("{} {}", known->name, known->fate);
  if (!known->systems.empty() && known->systems.find(kSystemName) == std::string_view::npos) {
    return fmt::format("{} runs on {} only; this is {}: leave it out here", known->name, known->systems, kSystemName);
  }
  if (!find_provider_library(*known).empty()) {
    if (const std::string problem = vendor_state(*known).problem; !problem.empty()) return fmt::format("{}: {}", known->name, problem);
  }
  std::vector<std::string> folders;
  for (const auto& folder : provider_folders()) folders.push_back("'" + utf8(folder) + "'");
  return fmt::format(
      "{} is not installed: no file {} in {}; put it there, name its folder in ROUNDHOUSE_PROVIDER_PATH, or register a provider library "
      "(register_execution_provider_library); available: {}",
      known->name, provider_file(known->key), fmt::join(folders, ", "), fmt::join(registered, ", "));
}

}  // namespace rh
