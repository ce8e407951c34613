// Makes of preprocessed CUDA C++ a unit that the host's compiler takes whole.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rh::stand {

// An expression as given to nvrtcAddNameExpression, and the name by which the kernel is found in the image.
using NameExpression = std::pair<std::string, std::string>;

// The name that stands for an expression such as `scale<float, 4>`.
std::string lowered_name(const std::string& expression);

// `extern __shared__ T name[]` becomes a pointer to the block's dynamic shared memory, the __shared__ variables of a kernel get a section
// of their own, and every kernel gets a description that the driver looks up: those that are extern "C", and those of the expressions.
std::string rewrite(std::string text, const std::vector<NameExpression>& expressions);

}  // namespace rh::stand
