// CUDA C++ as the host's compiler sees it: included first by every unit that the stand-in compiler makes.
#pragma once
#include "keywords.h"

// In checked images (-fsanitize=thread) the kernels' own loads and stores are watched, not those of these headers.
#include "watched_off.h"

// Each builds on those before it.
// clang-format off
#include "vector_types.h"
#include "warp.h"
#include "atomics.h"
#include "intrinsics.h"
#include "math.h"
#include "tensor_cores.h"
#include "matrix_cores.h"
#include "launch.h"
#include "image.h"
// clang-format on

#include "watched_on.h"
