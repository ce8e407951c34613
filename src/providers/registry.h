#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "providers/provider.h"

namespace rh {

/// Makes a provider with the options that the user gave. Throws Error{invalid_argument} naming an option that it does not know.
using MakeProvider = std::shared_ptr<Provider> (*)(const std::map<std::string, std::string>& options);

/// Provider names to what makes them. Short names ("CPU") and any case are accepted; the canonical ones end in "ExecutionProvider".
class ProviderRegistry {
 public:
  /// A later entry of the same name takes the place of an earlier one.
  void add(std::string_view name, MakeProvider make);
  /// The canonical name; empty where there is no such provider.
  std::string canonical_name(std::string_view name) const;
  /// Throws Error{invalid_argument} that names what is available where there is no such provider.
  std::shared_ptr<Provider> make(std::string_view name, const std::map<std::string, std::string>& options) const;
  /// Canonical names in the order in which they were added.
  std::vector<std::string> available() const;

 private:
  struct Entry {
    std::string name;
    MakeProvider make;
  };
  const Entry* find(std::string_view name) const;

  std::vector<Entry> entries_;
};

}  // namespace rh
