// The codes of errors (OrtErrorCode).
#pragma once

#include "onnxruntime_c_api.h"
