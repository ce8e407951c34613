// The handles that are alive: one that is not is an error of its own, in place of a fault.
#pragma once

#include <mutex>
#include <set>
#include <vector>

#include "stands/cuda/api/driver_api.h"

namespace rh::stand {

struct Device;

template <class T>
class Handles {
 public:
  T* add(T* handle) {
    std::lock_guard lock(mutex_);
    all_.insert(handle);
    return handle;
  }
  bool has(T* handle) {
    std::lock_guard lock(mutex_);
    return all_.count(handle) != 0;
  }
  // False: it was not alive.
  bool remove(T* handle) {
    std::lock_guard lock(mutex_);
    return all_.erase(handle) != 0;
  }
  std::vector<T*> all() {
    std::lock_guard lock(mutex_);
    return {all_.begin(), all_.end()};
  }
  size_t count() {
    std::lock_guard lock(mutex_);
    return all_.size();
  }

 private:
  std::mutex mutex_;
  std::set<T*> all_;
};

// The handles of a type in the whole program.
template <class T>
Handles<T>& handles() {
  static auto* all = new Handles<T>;
  return *all;
}

// Ends the streams, events, modules and graphs of a device's context.
void drop_handles_of(Device& device);
void destroy_stream(CUstream stream);
void destroy_module(CUmodule module);

}  // namespace rh::stand
