#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "abi/options.h"
#include "capi/adapter_file.h"

/// Parameters that replace overridable initializers of a model in the runs that the adapter is active in. What it holds may be replaced
/// while runs go on; they keep what they began with.
struct OrtLoraAdapter {
  explicit OrtLoraAdapter(rh::capi::AdapterFile content) { replace(std::move(content)); }

  std::shared_ptr<const rh::capi::AdapterFile> content() const {
    const std::lock_guard locked(mutex_);
    return content_;
  }
  void replace(rh::capi::AdapterFile content) {
    auto made = std::make_shared<const rh::capi::AdapterFile>(std::move(content));
    const std::lock_guard locked(mutex_);
    content_.swap(made);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const rh::capi::AdapterFile> content_;
};

namespace rh::capi {

/// The parameters of the adapters that are active in a run, as they are when it begins.
class ActiveParameters {
 public:
  /// `options` may be null.
  explicit ActiveParameters(const OrtRunOptions* options) {
    if (!options) return;
    for (const OrtLoraAdapter* adapter : options->lora_adapters) contents_.push_back(adapter->content());
  }

  /// Adds them to the inputs of a run, as `pointer(value)`. A parameter takes the place of an input or an earlier parameter of its name.
  template <typename Pointer, typename F>
  void add_to(std::vector<const char*>& names, std::vector<Pointer>& values, F pointer) const {
    if (contents_.empty()) return;
    std::unordered_map<std::string_view, size_t> places;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i]) places.emplace(names[i], i);
    }
    for (const auto& content : contents_) {
      for (size_t i = 0; i < content->names.size(); ++i) {
        const auto [place, added] = places.emplace(content->names[i], names.size());
        if (added) {
          names.push_back(content->names[i].c_str());
          values.push_back(pointer(content->values[i]));
        } else {
          values[place->second] = pointer(content->values[i]);
        }
      }
    }
  }

 private:
  std::vector<std::shared_ptr<const AdapterFile>> contents_;
};

}  // namespace rh::capi
