// Images of the stand-in compiler, loaded: a copy for each worker.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stands/cuda/api/driver_api.h"
#include "stands/cuda/device/stand_abi.h"

namespace rh::stand {

struct Device;

struct ImageCopy {
  void* library = nullptr;
  const StandImage* image = nullptr;
  StandRange range{};  // of its addresses
};

}  // namespace rh::stand

struct CUfunc_st {
  CUmodule module = nullptr;
  std::string name;
  std::vector<const StandKernel*> kernels;  // of each copy
  unsigned dynamic_limit = 48 << 10;
  size_t static_shared() const { return static_cast<size_t>(kernels[0]->shared.last - kernels[0]->shared.first); }
};

struct CUmod_st {
  rh::stand::Device* device = nullptr;
  std::vector<rh::stand::ImageCopy> copies;
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
  std::string bytes;  // of a checked image, for its lines
};

namespace rh::stand {

CUresult load_module(Device& device, const void* bytes, std::unique_ptr<CUmod_st>* module);
void close_module(CUmod_st& module);
// Puts the line of the source in place of "kernel image+0x...", where the image knows it.
std::string with_source_line(const CUmod_st& module, std::string message);
CUresult find_function(CUmod_st& module, const char* name, CUfunction* function);

}  // namespace rh::stand
