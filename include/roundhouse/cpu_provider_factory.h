// The CPU's provider by its older name; it is part of every session.
#pragma once

#include "onnxruntime_c_api.h"

#ifndef ORT_ALL_ARGS_NONNULL
#if defined(__GNUC__)
#define ORT_ALL_ARGS_NONNULL __attribute__((nonnull))
#else
#define ORT_ALL_ARGS_NONNULL
#endif
#endif
