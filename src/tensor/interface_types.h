#pragma once

#include "tensor/dtype.h"

namespace rh {

/// The numbers that the C interface has for element types: those of TensorProto.DataType up to 23; the newest are numbered differently.
/// 0 and undefined for what the other side does not know.
int interface_number(DType dtype);
DType dtype_of_interface_number(int number);

}  // namespace rh
