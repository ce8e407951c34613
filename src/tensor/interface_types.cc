#include "tensor/interface_types.h"

namespace rh {

namespace {

constexpr int kLastCommon = 23, kUint2 = 24, kInt2 = 25, kFloat8E8M0 = 26;

}  // namespace

int interface_number(DType dtype) {
  switch (dtype) {
    case DType::uint2: return kUint2;
    case DType::int2: return kInt2;
    case DType::float8e8m0: return kFloat8E8M0;
    default: return static_cast<int>(dtype) <= kLastCommon ? static_cast<int>(dtype) : 0;
  }
}

DType dtype_of_interface_number(int number) {
  switch (number) {
    case kUint2: return DType::uint2;
    case kInt2: return DType::int2;
    case kFloat8E8M0: return DType::float8e8m0;
    default: return number > 0 && number <= kLastCommon ? static_cast<DType>(number) : DType::undefined;
  }
}

}  // namespace rh
