// The C++ interface of ONNX Runtime over the C ABI: header-only, C++17 and later. Handles are move-only and release what they own; failed
// calls throw Ort::Exception.
#pragma once

#include "cxx/base.h"
#include "cxx/compile.h"
#include "cxx/custom_ops.h"
#include "cxx/devices.h"
#include "cxx/float_types.h"
#include "cxx/graph.h"
#include "cxx/io_binding.h"
#include "cxx/kernels.h"
#include "cxx/memory.h"
#include "cxx/options.h"
#include "cxx/paths.h"
#include "cxx/providers.h"
#include "cxx/session.h"
#include "cxx/type_info.h"
#include "cxx/value.h"
