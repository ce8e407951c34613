#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/devices.h"
#include "abi/env.h"
#include "abi/logger.h"
#include "base/dynamic_library.h"
#include "base/fork_mutex.h"
#include "providers/plugin/stream.h"
#include "roundhouse/roundhouse_ep_c_api.h"
#include "tensor/arena.h"

namespace rh::plugin {

/// Whether a shared allocator is to be an arena, and its bounds.
struct ArenaChoice {
  bool wanted = false;
  ArenaSettings settings = {};
};

/// A plugin library that was registered under a name: its factories and their devices. Whoever uses one of them keeps it.
class Library {
 public:
  /// Loads it and asks it for factories and devices, each call within `limit` (0: any time). Throws Error naming the file and what went
  /// wrong.
  Library(std::string name, const PathChar* path, const OrtApiBase& api, const OrtLogger& logger,
          std::span<const OrtHardwareDevice* const> hardware, std::chrono::milliseconds limit);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const std::string& name() const { return name_; }
  const std::string& file() const { return file_; }
  /// The devices that its factories gave, in order, to be handed to the environment once.
  std::vector<std::unique_ptr<OrtEpDevice>> take_devices() { return std::move(devices_); }
  std::vector<const OrtEpFactory*> factories() const;
  /// Whether a provider of this name comes from it, with or without devices.
  bool makes(std::string_view ep_name) const;
  bool owns(const OrtEpFactory& factory) const;
  /// Null where the library does not tell what its providers refuse.
  /// What it exports for us alone; null where it does not.
  RhEpGetRefusalsFn refusals() const { return refusals_; }
  RhEpUnitHostInputsFn unit_host_inputs() const { return unit_host_inputs_; }
  RhEpGetPassesFn passes() const { return passes_; }
  RhEpWatchRunsFn watch_runs() const { return watch_runs_; }
  RhEpInitializerAddressesFn initializer_addresses() const { return initializer_addresses_; }
  /// Null where the factory has none.
  PluginTransfer* transfer(const OrtEpFactory& factory) const;

  /// The allocator of a device that all share; one made before for this device is kept where `options` is null and no arena is wanted, else
  /// that of its memory is replaced. Where an arena is wanted and the plugin's own allocator is none, it is one of ours over that. Throws
  /// Error.
  OrtAllocator* create_shared_allocator(const OrtEpDevice& device, OrtDeviceMemoryType type, const OrtKeyValuePairs* options,
                                        const ArenaChoice& arena = {});
  /// What goes when it is replaced or released, and nobody uses it.
  struct SharedAllocator {
    SharedAllocator(OrtEpFactory& made_by, const OrtEpDevice& of, OrtDeviceMemoryType memory, OrtAllocator& made)
        : factory(made_by), device(&of), type(memory), raw(made) {}
    ~SharedAllocator();
    SharedAllocator(const SharedAllocator&) = delete;
    SharedAllocator& operator=(const SharedAllocator&) = delete;
    OrtAllocator* handle() const { return arena ? arena : &raw; }

    OrtEpFactory& factory;
    const OrtEpDevice* device;
    OrtDeviceMemoryType type;
    OrtAllocator& raw;
    OrtAllocator* arena = nullptr;  ///< of ours over it; null where there is none
  };
  /// That of this memory; null where nobody has made one.
  std::shared_ptr<const SharedAllocator> find_shared_allocator(const OrtMemoryInfo& info);
  /// Whether there was one.
  bool release_shared_allocator(const OrtMemoryInfo& info);

 private:
  std::vector<std::shared_ptr<const SharedAllocator>>::iterator find_shared(const OrtMemoryInfo& info);
  struct Factory {
    OrtEpFactory* raw = nullptr;
    std::string name;
    std::unique_ptr<PluginTransfer> transfer;
  };
  void open(const PathChar* path, std::chrono::milliseconds limit);
  void create_factories(const OrtApiBase& api, std::chrono::milliseconds limit);
  void check_factories();
  void list_devices(Factory& factory, std::span<const OrtHardwareDevice* const> hardware, std::chrono::milliseconds limit);
  void call_in_time(const std::string& who, const char* function, std::chrono::milliseconds limit, std::function<OrtStatus*()> work,
                    std::shared_ptr<const void> kept);
  void make_transfer(Factory& factory);
  void release_factories();

  std::string name_;
  std::string file_;
  std::shared_ptr<const OrtLogger> logger_;
  void* handle_ = nullptr;
  bool left_behind_ = false;  ///< a call of it still runs: nothing of it is released
  ReleaseEpApiFactoryFn release_ = nullptr;
  RhEpGetRefusalsFn refusals_ = nullptr;
  RhEpUnitHostInputsFn unit_host_inputs_ = nullptr;
  RhEpGetPassesFn passes_ = nullptr;
  RhEpWatchRunsFn watch_runs_ = nullptr;
  RhEpInitializerAddressesFn initializer_addresses_ = nullptr;
  std::vector<Factory> factories_;
  std::vector<std::unique_ptr<OrtEpDevice>> devices_;
  MemberForkMutex mutex_;
  std::vector<std::shared_ptr<const SharedAllocator>> shared_;
};

/// The plugin libraries of an environment. Thread-safe.
class Libraries {
 public:
  /// `env` has the devices of all, and outlives this.
  explicit Libraries(OrtEnv& env) : env_(env) {}
  ~Libraries();

  /// Throws Error{invalid_argument} where the name is taken, and what Library throws.
  void add(std::string_view name, const PathChar* path, const OrtApiBase& api, const OrtLogger& logger);
  /// Sessions that use the library keep it. Throws Error{invalid_argument} where no library has the name.
  void remove(std::string_view name);

  bool has(std::string_view name) const;
  /// The library of a device. Throws Error{invalid_argument} where it is of none.
  std::shared_ptr<Library> library_of(const OrtEpDevice& device) const;
  /// The devices of the provider of this name.
  std::vector<const OrtEpDevice*> devices_of(std::string_view ep_name) const;
  std::vector<std::string> provider_names() const;
  /// The file of the library that makes the provider, though for no device of this machine; empty where there is none.
  std::string library_without_devices(std::string_view ep_name) const;
  /// The shared allocator of this memory, made on first use; null where no device has it, or it was released.
  OrtAllocator* shared_allocator(const OrtMemoryInfo& info);
  /// Library::create_shared_allocator in the place of what any library made for this memory.
  OrtAllocator* create_shared_allocator(const OrtEpDevice& device, OrtDeviceMemoryType type, const OrtKeyValuePairs* options,
                                        const ArenaChoice& arena);
  /// Throws Error{invalid_argument} where the device has no such memory, or its allocator was released before.
  void release_shared_allocator(const OrtEpDevice& device, OrtDeviceMemoryType type);
  /// Null where no provider copies from one to the other.
  DataTransfer* find_transfer(Device from, Device to) const;

 private:
  std::vector<std::shared_ptr<Library>> list() const;
  /// Notes whether the memory's allocator was released; whether that was noted before.
  bool note_released(const OrtMemoryInfo& info, bool released);

  OrtEnv& env_;
  mutable MemberForkMutex mutex_;
  std::vector<std::shared_ptr<Library>> libraries_;
  std::vector<OrtMemoryDevice> released_;  ///< memories whose shared allocator was released, and not made again
};

/// Null where the device has no memory of this kind that its provider declared.
const OrtMemoryInfo* memory_of(const OrtEpDevice& device, OrtDeviceMemoryType type);

}  // namespace rh::plugin
