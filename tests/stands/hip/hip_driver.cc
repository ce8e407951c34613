// libamdhip64.so of the stand: what HIP has under other names, or with other numbers, than CUDA. Functions that differ in their name alone
// are names of the same code (driver_names.txt).
#include <cstdio>
#include <cstring>

#include "stands/cuda/driver/current.h"
#include "stands/hip/architecture.h"

using namespace rh::stand;

extern "C" {
CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device);
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device);
CUresult cuGetErrorString(CUresult error, const char** text);
}

namespace {

struct AttributeName {
  int hip;
  CUdevice_attribute cuda;
};
constexpr AttributeName kAttributes[] = {
    {3, CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
    {8, CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
    {19, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {56, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {57, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {63, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {67, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
    {68, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
    {69, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
    {74, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {83, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {87, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
};
constexpr int kMajor = 23, kMinor = 61, kLastAttribute = 87;

/// Of gfx90a 9 and 0, of gfx1100 11 and 0: the last two digits are the minor version and the stepping.
int version_part(bool minor) {
  const std::string name = architecture_name(), digits = name.substr(3, name.find(':') - 3);
  return minor ? std::stoi(digits.substr(digits.size() - 2, 1), nullptr, 16) : std::stoi(digits.substr(0, digits.size() - 2));
}

/// hipDeviceProp_tR0600: what of it programs read here, where ROCm 6 and 7 have it.
constexpr size_t kPropertiesBytes = 1472, kMemoryAt = 288, kArchitectureAt = 1160;

}  // namespace

RH_STAND_DRIVER(hipDeviceGetAttribute, (int* value, int attribute, CUdevice device), (value, attribute, device)) {
  if (!value || attribute < 0 || attribute > kLastAttribute) return CUDA_ERROR_INVALID_VALUE;
  if (attribute == kMajor || attribute == kMinor) {
    *value = version_part(attribute == kMinor);
    return CUDA_SUCCESS;
  }
  *value = 0;
  for (const AttributeName& row : kAttributes)
    if (row.hip == attribute) return cuDeviceGetAttribute(value, row.cuda, device);
  return CUDA_SUCCESS;
}

RH_STAND_DRIVER(hipGetDevicePropertiesR0600, (void* properties, int device), (properties, device)) {
  if (!properties) return CUDA_ERROR_INVALID_VALUE;
  size_t bytes = 0;
  RH_STAND_TRY(cuDeviceTotalMem_v2(&bytes, device));
  auto* at = static_cast<char*>(properties);
  std::memset(at, 0, kPropertiesBytes);
  std::snprintf(at, 256, "%s", device_of(device)->name().c_str());
  std::memcpy(at + kMemoryAt, &bytes, sizeof bytes);
  std::snprintf(at + kArchitectureAt, 256, "%s", architecture_name().c_str());
  return CUDA_SUCCESS;
}

// Its bytes are characters.
RH_STAND_DRIVER(hipDeviceGetUuid, (CUuuid * uuid, CUdevice device), (uuid, device)) {
  RH_STAND_TRY(cuDeviceGetUuid(uuid, device));
  char text[17];
  std::snprintf(text, sizeof text, "5261696c%08x", static_cast<unsigned>(device_of(device)->physical));
  std::memcpy(uuid->bytes, text, sizeof uuid->bytes);
  return CUDA_SUCCESS;
}

RH_STAND_EXPORT CUresult hipDrvGetErrorString(CUresult error, const char** text) {
  const CUresult result = cuGetErrorString(error, text);
  if (error == CUDA_ERROR_NO_DEVICE && text) *text = "no ROCm-capable device is detected";
  return result;
}
