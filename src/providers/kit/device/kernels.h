#pragma once

#include <memory>
#include <vector>

#include "providers/kit/regions/region_provider.h"

namespace rh::kit {

class ListedDevice;

/// The kernels of a provider as its host's registry. Of a device they are preceded by MemcpyFromHost and MemcpyToHost, which a host puts
/// between nodes of the device and of the CPU: without them its own would hand kernels addresses of the host.
class Kernels {
 public:
  Kernels(const Host& host, const char* provider, std::shared_ptr<ListedDevice> device, std::vector<KernelRow> rows);
  ~Kernels();
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  /// Null where there are none.
  const OrtKernelRegistry* registry() const { return registry_; }

  struct Entry {
    const Kernels* owner;
    KernelRow row;
  };
  const Host& host() const { return host_; }
  const std::shared_ptr<ListedDevice>& device() const { return device_; }

 private:
  void add(const char* provider, Entry& entry);

  Host host_;
  std::shared_ptr<ListedDevice> device_;
  std::vector<std::unique_ptr<Entry>> entries_;
  OrtKernelRegistry* registry_ = nullptr;
};

}  // namespace rh::kit
