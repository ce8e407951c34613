#include "abi/env.h"

#include <algorithm>

#include "abi/allocator.h"
#include "abi/arena_allocator.h"
#include "base/cpu_features.h"
#include "base/error.h"

namespace {

const OrtMemoryInfo& info_of(const OrtAllocator& allocator) {
  const OrtMemoryInfo* info = allocator.Info ? allocator.Info(&allocator) : nullptr;
  if (!info) rh::fail(rh::ErrorCode::invalid_argument, "the allocator gives no memory information");
  return *info;
}

}  // namespace

std::vector<OrtEnv::Registered>::iterator OrtEnv::find(const OrtMemoryInfo& info) {
  return std::ranges::find_if(allocators_, [&](const Registered& entry) {
    const OrtMemoryInfo& other = info_of(*entry.allocator);
    return other.device == info.device && other.mem_type == info.mem_type;
  });
}

void OrtEnv::register_allocator(OrtAllocator& allocator, bool owned) {
  const std::lock_guard lock(mutex_);
  if (const auto found = find(info_of(allocator)); found != allocators_.end()) {
    if (found->owned) rh::abi::release_allocator(found->allocator);
    *found = {&allocator, owned};
    return;
  }
  allocators_.push_back({&allocator, owned});
}

void OrtEnv::unregister_allocator(const OrtMemoryInfo& info) {
  const std::lock_guard lock(mutex_);
  const auto found = find(info);
  if (found == allocators_.end()) rh::fail(rh::ErrorCode::invalid_argument, "no allocator for memory '{}' is registered", info.name);
  if (found->owned) rh::abi::release_allocator(found->allocator);
  allocators_.erase(found);
}

OrtAllocator* OrtEnv::find_allocator(const OrtMemoryInfo& info) {
  const std::lock_guard lock(mutex_);
  const auto found = find(info);
  return found == allocators_.end() ? nullptr : found->allocator;
}

std::shared_ptr<rh::Allocator> OrtEnv::shared_memory(const OrtMemoryInfo& info) {
  const std::lock_guard lock(mutex_);
  const auto found = find(info);
  if (found == allocators_.end() || found->allocator->Alloc == rh::abi::default_allocator().Alloc) return nullptr;
  return rh::abi::allocator_over(*found->allocator);
}

std::shared_ptr<rh::ThreadPool> OrtEnv::shared_pool() const {
  const std::lock_guard lock(mutex_);
  return pool_;
}

void OrtEnv::make_shared_pool(const OrtThreadingOptions& threading) {
  const std::lock_guard lock(mutex_);
  if (pool_) rh::fail(rh::ErrorCode::fail, "the environment has global thread pools already, which stay as they are");
  rh::ThreadPool::Options options;
  options.threads = std::max(0, threading.intra_op_threads);
  if (!threading.allow_spinning) options.spin_microseconds = 0;
  if (!threading.intra_op_affinity.empty()) {
    options.affinities = rh::parse_affinities(threading.intra_op_affinity);
    const int workers = static_cast<int>(options.affinities.size());
    if (options.threads == 0) options.threads = workers + 1;
    if (workers != options.threads - 1) {
      rh::fail(rh::ErrorCode::invalid_argument,
               "the affinities of the global threads are for {} threads, expected {}: one less than the {}", workers, options.threads - 1,
               options.threads);
    }
  }
  options.functions = rh::abi::thread_functions(threading.functions);
  pool_ = std::make_shared<rh::ThreadPool>(options);
}

void OrtEnv::discover() const {
  if (!hardware_.empty()) return;
  hardware_ = rh::abi::discover_hardware();
  for (const OrtHardwareDevice& device : hardware_) hardware_list_.push_back(&device);
  auto cpu = std::make_unique<OrtEpDevice>();
  cpu->ep_name = "CPUExecutionProvider";
  cpu->ep_vendor = "Roundhouse";
  cpu->metadata.set("version", RH_VERSION);
  cpu->device = &hardware_.front();
  ep_device_list_.insert(ep_device_list_.begin(), cpu.get());
  ep_devices_.insert(ep_devices_.begin(), std::move(cpu));
}

std::span<const OrtHardwareDevice* const> OrtEnv::hardware_devices() const {
  const std::lock_guard lock(mutex_);
  discover();
  return hardware_list_;
}

std::span<const OrtEpDevice* const> OrtEnv::ep_devices() const {
  const std::lock_guard lock(mutex_);
  discover();
  return ep_device_list_;
}

void OrtEnv::add_ep_devices(std::vector<std::unique_ptr<OrtEpDevice>> devices) {
  const std::lock_guard lock(mutex_);
  discover();
  for (auto& device : devices) {
    ep_device_list_.push_back(device.get());
    ep_devices_.push_back(std::move(device));
  }
}

void OrtEnv::remove_ep_devices(const OrtEpFactory& factory) {
  const std::lock_guard lock(mutex_);
  std::erase_if(ep_device_list_, [&](const OrtEpDevice* device) { return device->factory == &factory; });
  std::erase_if(ep_devices_, [&](const auto& device) { return device->factory == &factory; });
}

OrtEnv::~OrtEnv() {
  for (const Registered& entry : allocators_) {
    if (entry.owned) rh::abi::release_allocator(entry.allocator);
  }
}

namespace rh::abi {

namespace {

constinit ForkMutex g_mutex;
OrtEnv* g_env = nullptr;
int g_owners = 0;

}  // namespace

OrtEnv* acquire_env(const EnvSettings& settings) {
  const std::lock_guard lock(g_mutex);
  if (!g_env) {
    auto env = std::make_unique<OrtEnv>();
    env->logger.id = settings.id;
    env->logger.level = settings.level;
    env->logger.function = settings.function;
    env->logger.parameter = settings.parameter;
    if (settings.threading) env->make_shared_pool(*settings.threading);
    if (settings.config) env->config = *settings.config;
    if (const std::string problem = rh::isa_problem(); !problem.empty()) {
      env->logger.log(ORT_LOGGING_LEVEL_WARNING, "environment", "", problem.c_str());
    }
    g_env = env.release();
  }
  ++g_owners;
  return g_env;
}

OrtEnv* current_env() {
  const std::lock_guard lock(g_mutex);
  return g_env;
}

void retain_env(const OrtEnv* env) {
  const std::lock_guard lock(g_mutex);
  if (env == g_env) ++g_owners;
}

void release_env(OrtEnv* env) {
  const std::lock_guard lock(g_mutex);
  if (!env || env != g_env || --g_owners != 0) return;
  delete g_env;
  g_env = nullptr;
}

}  // namespace rh::abi
