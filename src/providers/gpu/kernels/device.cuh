// What kernels share: element types, loads and stores, mathematics of float and double, sums of a block. CUDA, HIP, and the stand-in.
namespace rh {

struct half {
  unsigned short bits;
};
struct bfloat16 {
  unsigned short bits;
};

#if defined(__CUDA_EMU__) || defined(__HIPCC_RTC__)
__device__ inline float to_float(half value) { return (float)__builtin_bit_cast(_Float16, value.bits); }
__device__ inline half to_half(float value) { return {__builtin_bit_cast(unsigned short, (_Float16)value)}; }
#else
__device__ inline float to_float(half value) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
  return result;
}
__device__ inline half to_half(float value) {
  half result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
  return result;
}
#endif
__device__ inline float to_float(bfloat16 value) { return __uint_as_float((unsigned)value.bits << 16); }
__device__ inline bfloat16 to_bfloat16(float value) {  // to nearest, ties to even; a NaN stays one
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {(unsigned short)((bits >> 16) | 0x40u)};
  return {(unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

/// What elements of a type are computed in.
template <class T>
struct Compute {
  using type = T;
};
template <>
struct Compute<half> {
  using type = float;
};
template <>
struct Compute<bfloat16> {
  using type = float;
};
template <class T>
using compute_t = typename Compute<T>::type;

template <class T>
__device__ inline T value_of(T element) {
  return element;
}
__device__ inline float value_of(half element) { return to_float(element); }
__device__ inline float value_of(bfloat16 element) { return to_float(element); }

template <class T>
struct Element {
  template <class V>
  __device__ static T of(V value) {
    return (T)value;
  }
};
template <>
struct Element<half> {
  template <class V>
  __device__ static half of(V value) {
    return to_half((float)value);
  }
};
template <>
struct Element<bfloat16> {
  template <class V>
  __device__ static bfloat16 of(V value) {
    return to_bfloat16((float)value);
  }
};
template <>
struct Element<bool> {
  template <class V>
  __device__ static bool of(V value) {
    return value != (V)0;
  }
};

template <class T>
__device__ inline compute_t<T> load(const void* from, long long i) {
  return value_of(static_cast<const T*>(from)[i]);
}
template <class T, class V>
__device__ inline void store(void* to, long long i, V value) {
  static_cast<T*>(to)[i] = Element<T>::of(value);
}

/// What is done with the results of products and convolutions. `more` is what stands behind the kernel's own arguments.
struct StoreResult {
  template <class T, class V>
  __device__ static void put(void* to, const void* more, long long i, V value) {
    store<T>(to, i, value);
  }
};
template <class A>
__device__ inline const void* behind(const A& arguments) {
  return reinterpret_cast<const char*>(&arguments) + (sizeof arguments + 15) / 16 * 16;
}

/// The argument of every kernel, which becomes the struct that the function takes.
struct Arguments {
  const void* block;
  template <class A>
  __device__ operator const A&() const {
    return *static_cast<const A*>(block);
  }
};

#define RH_MATH(name)                                              \
  __device__ inline float m_##name(float x) { return name##f(x); } \
  __device__ inline double m_##name(double x) { return name(x); }
RH_MATH(exp)
RH_MATH(log)
RH_MATH(log1p)
RH_MATH(expm1)
RH_MATH(sqrt)
RH_MATH(floor)
RH_MATH(ceil)
RH_MATH(rint)
RH_MATH(sin)
RH_MATH(cos)
RH_MATH(tan)
RH_MATH(asin)
RH_MATH(acos)
RH_MATH(atan)
RH_MATH(sinh)
RH_MATH(cosh)
RH_MATH(tanh)
RH_MATH(asinh)
RH_MATH(acosh)
RH_MATH(atanh)
RH_MATH(erf)
RH_MATH(fabs)
#undef RH_MATH
__device__ inline float m_pow(float x, float y) { return powf(x, y); }
__device__ inline double m_pow(double x, double y) { return pow(x, y); }
__device__ inline float m_fmod(float x, float y) { return fmodf(x, y); }
__device__ inline double m_fmod(double x, double y) { return fmod(x, y); }
__device__ inline float infinity() { return __uint_as_float(0x7f800000u); }

/// The block's shared memory, of which each kernel is given what it asks for at its launch.
__device__ inline char* shared_memory() {
  extern __shared__ float4 rh_shared[];
  return reinterpret_cast<char*>(rh_shared);
}

struct Sum {
  template <class C>
  __device__ static C join(C a, C b) {
    return a + b;
  }
};
struct Largest {  // NaN wins
  template <class C>
  __device__ static C join(C a, C b) {
    return a != a ? a : b != b ? b : a > b ? a : b;
  }
};
struct Least {
  template <class C>
  __device__ static C join(C a, C b) {
    return a != a ? a : b != b ? b : a < b ? a : b;
  }
};
struct Product {
  template <class C>
  __device__ static C join(C a, C b) {
    return a * b;
  }
};

/// Joins a value of each thread of the block, a power of two, through `room`, of one C a thread. All threads get the result.
template <class Join, class C>
__device__ inline C join_block(C value, C* room) {
  room[threadIdx.x] = value;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) room[threadIdx.x] = Join::join(room[threadIdx.x], room[threadIdx.x + step]);
    __syncthreads();
  }
  const C result = room[0];
  __syncthreads();
  return result;
}

/// Where element i of some dimensions lies, the last one first.
__device__ inline long long place_of(long long i, int rank, const unsigned* sizes, const long long* strides) {
  long long place = 0;
  for (int d = 0; d < rank; ++d) {
    const long long rest = i / sizes[d];
    place += (i - rest * sizes[d]) * strides[d];
    i = rest;
  }
  return place;
}

/// Of the elements that a grid works on: the first of this thread, and how far apart those of a thread are.
__device__ inline long long first_element() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline long long element_step() { return (long long)gridDim.x * blockDim.x; }

}  // namespace rh
