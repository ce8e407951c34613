#pragma once

#include "values.h"

namespace rh::python {

/// A device as Python names it: kind (OrtMemoryInfoDeviceType), index, vendor (-1: any), kind of memory.
struct PyPlace {
  int type = OrtMemoryInfoDeviceType_CPU;
  int id = 0;
  int64_t vendor = -1;
  int memory = OrtDeviceMemoryType_DEFAULT;

  bool is_host() const { return type == OrtMemoryInfoDeviceType_CPU; }
  /// "gpu:0 (vendor 0x10de)".
  std::string text() const;
};

/// From a device's name, or an OrtDevice. Throws ValueError for a name that is none.
PyPlace place_of(nb::handle device, int id = 0, int64_t vendor = -1);
/// Where a value is.
PyPlace place_of(const Ort::Value& value);

/// The memory of a place: that of the host, or of a registered provider. Throws RuntimeError that lists what there is.
const OrtMemoryInfo* memory_at(const PyPlace& place);
/// "cpu", "cuda", "npu", ...: what programs of the API call the device of a value.
const char* device_name(const PyPlace& place);
/// The number of the place's kind in DLPack (DLDeviceType).
int dlpack_kind(const PyPlace& place);
/// The place that has this kind and index. Throws RuntimeError where none or several have.
PyPlace place_of_dlpack(int kind, int id);

/// Uninitialised. Throws RuntimeError for strings on a device.
Ort::Value new_tensor_at(const OrtMemoryInfo* memory, const std::vector<int64_t>& shape, ONNXTensorElementDataType type);
/// Between any two memories of equal types and numbers of elements; done when it returns, or with a stream when that has done it.
void copy_value(const Ort::Value& from, Ort::Value& to, OrtSyncStream* stream = nullptr);
/// A copy of a tensor in memory of the host.
Ort::Value copy_on_host(const Ort::Value& value);

/// An ndarray over the memory of the OrtValue `object`, which stays alive with it; a copy where elements are narrower than a byte, or
/// where the memory is a device's.
nb::object array_over(nb::handle object);
void bind_dlpack(nb::class_<PyValue>& type);
void bind_dlpack_questions(nb::module_& module);

}  // namespace rh::python
