#pragma once

#include <memory>

#include "providers/provider.h"

namespace rh {

/// A constant in the memory of a provider's device. Where sessions share that memory, an equal constant that is there already is taken.
/// Throws Error naming the constant where it is not copied.
Tensor place_constant(const Tensor& host, std::string_view name, const std::shared_ptr<Provider>& owner, DataTransfer& transfer);

}  // namespace rh
