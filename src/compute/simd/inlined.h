#pragma once

/// Before a lambda's body or a function: always inlined, where the compiler can be told so. Kernels whose steps are functions need it to
/// keep vectors in registers.
#if defined(__GNUC__)
#define RH_INLINED __attribute__((always_inline))
#else
#define RH_INLINED
#endif
