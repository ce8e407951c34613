#include "dlpack_capsule.h"

namespace rh::python {

namespace {

constexpr const char* kPlain = "dltensor";
constexpr const char* kVersioned = "dltensor_versioned";
constexpr uint32_t kMajorVersion = 1;

/// DLManagedTensor.
struct ManagedTensor {
  static constexpr const char *kName = kPlain, *kTaken = "used_dltensor";
  nb::dlpack::dltensor tensor;
  void* context = nullptr;
  void (*deleter)(ManagedTensor*) = nullptr;
};

/// DLManagedTensorVersioned.
struct VersionedTensor {
  static constexpr const char *kName = kVersioned, *kTaken = "used_dltensor_versioned";
  uint32_t major = 0, minor = 0;
  void* context = nullptr;
  void (*deleter)(VersionedTensor*) = nullptr;
  uint64_t flags = 0;
  nb::dlpack::dltensor tensor;
};

/// What a capsule of ours holds.
struct SharedTensor {
  ForeignTensor source;
  ManagedTensor managed;
};

// Libraries call it on any thread, some of them after the interpreter's end.
void release(ManagedTensor* managed) {
  if (!nb::is_alive()) return;
  const nb::gil_scoped_acquire gil;
  delete static_cast<SharedTensor*>(managed->context);
}

// Who takes the tensor renames the capsule.
void release_capsule(PyObject* capsule) {
  const nb::error_scope pending;
  if (PyCapsule_IsValid(capsule, kPlain)) release(static_cast<ManagedTensor*>(PyCapsule_GetPointer(capsule, kPlain)));
}

std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

template <typename Managed>
ForeignTensor take(nb::handle capsule) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), Managed::kName));
  const nb::dlpack::dltensor& tensor = managed->tensor;
  if constexpr (std::is_same_v<Managed, VersionedTensor>) {
    if (managed->major > kMajorVersion)
      throw std::runtime_error("the capsule is of version " + std::to_string(managed->major) + " of DLPack, expected at most 1");
  }
  if (tensor.ndim < 0) throw std::runtime_error("the DLPack tensor has " + std::to_string(tensor.ndim) + " dimensions");
  ForeignTensor taken{static_cast<char*>(tensor.data) + tensor.byte_offset, tensor.device, tensor.dtype, {}, {}, {}};
  taken.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides) taken.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  const auto let_go = [](void* held) noexcept {
    auto* tensor = static_cast<Managed*>(held);
    if (tensor->deleter) tensor->deleter(tensor);
  };
  taken.owner = nb::capsule(managed, let_go);
  PyCapsule_SetDestructor(capsule.ptr(), nullptr);
  PyCapsule_SetName(capsule.ptr(), Managed::kTaken);
  return taken;
}

}  // namespace

nb::object capsule_over(ForeignTensor tensor) {
  if (tensor.strides.empty()) tensor.strides = dense_strides(tensor.shape);
  auto shared = std::make_unique<SharedTensor>(SharedTensor{std::move(tensor), {}});
  ForeignTensor& source = shared->source;
  shared->managed = {
      {source.data, source.device, static_cast<int32_t>(source.shape.size()), source.dtype, source.shape.data(), source.strides.data(), 0},
      shared.get(),
      &release};
  PyObject* capsule = PyCapsule_New(&shared->managed, kPlain, &release_capsule);
  if (!capsule) throw nb::python_error();
  shared.release();
  return nb::steal(capsule);
}

std::optional<ForeignTensor> take_capsule(nb::handle capsule) {
  if (PyCapsule_IsValid(capsule.ptr(), kPlain)) return take<ManagedTensor>(capsule);
  if (PyCapsule_IsValid(capsule.ptr(), kVersioned)) return take<VersionedTensor>(capsule);
  return std::nullopt;
}

}  // namespace rh::python
