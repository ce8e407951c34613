// Atomic functions. Blocks may run on several workers at once, so they are atomic on the host too.
#pragma once

#if defined(RH_STAND_CHECKED)
#define STAND_WATCH_ATOMIC(p) stand_api->access(stand_state.worker, p, sizeof *(p), kStandAtomic, STAND_SITE)
#else
#define STAND_WATCH_ATOMIC(p) static_cast<void>(0)
#endif

// Replaces *p by join(*p, value) and returns what stood there.
template <class T, class Join>
inline T stand_atomic(T* p, T value, Join join) {
  T old;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  for (;;) {
    T next = join(old, value);
    if (__atomic_compare_exchange(p, &old, &next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return old;
  }
}
#define STAND_ATOMIC(name, type, expression)                                          \
  __attribute__((noinline)) inline type name(type* p, type value) {                   \
    STAND_WATCH_ATOMIC(p);                                                            \
    return stand_atomic(p, value, [](type a, type b) -> type { return expression; }); \
  }
#define STAND_ATOMIC_OF_INTEGERS(name, expression) \
  STAND_ATOMIC(name, int, expression)              \
  STAND_ATOMIC(name, unsigned, expression)         \
  STAND_ATOMIC(name, unsigned long long, expression)
STAND_ATOMIC_OF_INTEGERS(atomicAdd, a + b)
STAND_ATOMIC(atomicAdd, float, a + b)
STAND_ATOMIC(atomicAdd, double, a + b)
STAND_ATOMIC(atomicSub, int, a - b)
STAND_ATOMIC(atomicSub, unsigned, a - b)
STAND_ATOMIC_OF_INTEGERS(atomicMin, a < b ? a : b)
STAND_ATOMIC_OF_INTEGERS(atomicMax, a > b ? a : b)
STAND_ATOMIC(atomicMin, long long, a < b ? a : b)
STAND_ATOMIC(atomicMax, long long, a > b ? a : b)
STAND_ATOMIC_OF_INTEGERS(atomicAnd, a& b)
STAND_ATOMIC_OF_INTEGERS(atomicOr, a | b)
STAND_ATOMIC_OF_INTEGERS(atomicXor, a ^ b)
STAND_ATOMIC_OF_INTEGERS(atomicExch, (static_cast<void>(a), b))
STAND_ATOMIC(atomicExch, float, (static_cast<void>(a), b))
STAND_ATOMIC(atomicInc, unsigned, a >= b ? 0u : a + 1)
STAND_ATOMIC(atomicDec, unsigned, a == 0 || a > b ? b : a - 1)

#define STAND_COMPARE_AND_SWAP(type)                                                             \
  __attribute__((noinline)) inline type atomicCAS(type* p, type expected, type value) {          \
    STAND_WATCH_ATOMIC(p);                                                                       \
    __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); \
    return expected;                                                                             \
  }
STAND_COMPARE_AND_SWAP(int)
STAND_COMPARE_AND_SWAP(unsigned)
STAND_COMPARE_AND_SWAP(unsigned long long)
STAND_COMPARE_AND_SWAP(unsigned short)
