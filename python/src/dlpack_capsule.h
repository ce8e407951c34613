#pragma once

#include "values.h"

namespace rh::python {

/// A tensor of others.
struct ForeignTensor {
  void* data = nullptr;
  nb::dlpack::device device;
  nb::dlpack::dtype dtype;
  std::vector<int64_t> shape, strides;  ///< strides are empty where the elements lie in the order of the dimensions
  nb::object owner;
};

/// Capsules of DLPack for tensors of any rank; nanobind ends the process from 129 dimensions on.
/// `tensor.owner` lives until who takes the capsule lets it go.
nb::object capsule_over(ForeignTensor tensor);
/// Takes the tensor out of a capsule; nothing where the object is none, or one that was taken before.
std::optional<ForeignTensor> take_capsule(nb::handle capsule);

}  // namespace rh::python
