#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "abi/devices.h"
#include "abi/logger.h"
#include "abi/memory_info.h"
#include "abi/options.h"
#include "base/fork_mutex.h"
#include "base/thread_pool.h"

namespace rh::plugin {
class Libraries;
}

/// What sessions share: the logger, settings of the shared thread pools, registered allocators. One a process, counted.
struct OrtEnv {
  OrtLogger logger;
  OrtKeyValuePairs config;
  mutable std::shared_ptr<rh::plugin::Libraries> libraries;  ///< made on first use

  /// In the place of one with the same memory information.
  void register_allocator(OrtAllocator& allocator, bool owned);
  /// Throws Error{invalid_argument} where none is registered.
  void unregister_allocator(const OrtMemoryInfo& info);
  /// Null where none is registered.
  OrtAllocator* find_allocator(const OrtMemoryInfo& info);
  /// What sessions take that memory from which share it; null where none is registered. Outlives a later unregistration where it is ours.
  std::shared_ptr<rh::Allocator> shared_memory(const OrtMemoryInfo& info);

  /// The hardware of the machine, found on first use; the same as long as the environment lives.
  std::span<const OrtHardwareDevice* const> hardware_devices() const;
  /// Every provider on each device that it supports, the CPU's first. Valid until one is added or removed.
  std::span<const OrtEpDevice* const> ep_devices() const;
  void add_ep_devices(std::vector<std::unique_ptr<OrtEpDevice>> devices);
  void remove_ep_devices(const OrtEpFactory& factory);

  /// The pool of sessions without threads of their own; null where the environment has none.
  std::shared_ptr<rh::ThreadPool> shared_pool() const;
  /// Throws Error where there is one already, the options contradict each other, or a thread does not start.
  void make_shared_pool(const OrtThreadingOptions& threading);

  ~OrtEnv();

 private:
  struct Registered {
    OrtAllocator* allocator;
    bool owned;
  };
  std::vector<Registered>::iterator find(const OrtMemoryInfo& info);

  mutable rh::MemberForkMutex mutex_;
  std::vector<Registered> allocators_;
  std::shared_ptr<rh::ThreadPool> pool_;

  void discover() const;  ///< with the mutex held
  mutable std::vector<OrtHardwareDevice> hardware_;
  mutable std::vector<const OrtHardwareDevice*> hardware_list_;
  mutable std::vector<std::unique_ptr<OrtEpDevice>> ep_devices_;
  mutable std::vector<const OrtEpDevice*> ep_device_list_;
};

namespace rh::abi {

struct EnvSettings {
  OrtLoggingLevel level = ORT_LOGGING_LEVEL_WARNING;
  std::string id;
  OrtLoggingFunction function = nullptr;
  void* parameter = nullptr;
  const OrtThreadingOptions* threading = nullptr;
  const OrtKeyValuePairs* config = nullptr;
};

/// The environment of the process, made with `settings` where there is none; each call is matched by one release_env.
OrtEnv* acquire_env(const EnvSettings& settings);
/// One more owner of an environment that exists.
void retain_env(const OrtEnv* env);
void release_env(OrtEnv* env);
/// Null where the process has none.
OrtEnv* current_env();

}  // namespace rh::abi
