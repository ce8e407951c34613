// Functions of elements that have no operator of C++, for generated kernels (lower/elementwise).
namespace rh {

template <class C>
__device__ inline C f_abs(C a) {
  return a < (C)0 ? (C)-a : a;
}
__device__ inline float f_abs(float a) { return m_fabs(a); }
__device__ inline double f_abs(double a) { return m_fabs(a); }

template <class C>
__device__ inline C f_sign(C a) {
  return a > (C)0 ? (C)1 : a < (C)0 ? (C)-1 : a != a ? a : (C)0;
}

template <class C>
__device__ inline C f_sigmoid(C a) {
  return a >= (C)0 ? (C)1 / ((C)1 + m_exp(-a)) : m_exp(a) / ((C)1 + m_exp(a));
}

template <class C>
__device__ inline C f_softplus(C a) {
  return a > (C)0 ? a + m_log1p(m_exp(-a)) : m_log1p(m_exp(a));
}

template <class C>
__device__ inline C f_bound_below(C a, C low) {
  return a < low ? low : a;
}
template <class C>
__device__ inline C f_bound_above(C a, C high) {
  return a > high ? high : a;
}
template <class C>
__device__ inline C f_clip(C a, C low, C high) {  // a NaN stays one
  a = a < low ? low : a;
  return a > high ? high : a;
}

/// Integers wrap; nothing is divided by zero.
template <class C>
__device__ inline C f_divide(C a, C b) {
  if (b == (C)0) return (C)0;
  if ((C)-1 < (C)0 && b == (C)-1) return (C)(0 - (unsigned long long)a);
  return a / b;
}
__device__ inline float f_divide(float a, float b) { return a / b; }
__device__ inline double f_divide(double a, double b) { return a / b; }

template <class C>
__device__ inline C f_max(C a, C b) {
  return Largest::join(a, b);
}
template <class C>
__device__ inline C f_min(C a, C b) {
  return Least::join(a, b);
}

template <class C>
__device__ inline C f_fmod(C a, C b) {
  return b == (C)0 || ((C)-1 < (C)0 && b == (C)-1) ? (C)0 : (C)(a % b);
}
__device__ inline float f_fmod(float a, float b) { return m_fmod(a, b); }
__device__ inline double f_fmod(double a, double b) { return m_fmod(a, b); }

/// The result has the divisor's sign.
template <class C>
__device__ inline C f_mod(C a, C b) {
  const C rest = f_fmod(a, b);
  return rest != (C)0 && (rest < (C)0) != (b < (C)0) ? (C)(rest + b) : rest;
}

/// Powers of integers by squares, which wrap.
template <class C, class E>
__device__ inline C f_power(C a, E exponent) {
  if (exponent < (E)0) return a == (C)1 ? (C)1 : a + (C)1 == (C)0 ? ((long long)exponent % 2 ? a : (C)1) : (C)0;
  C result = (C)1;
  for (unsigned long long e = (unsigned long long)exponent; e > 0; e /= 2) {
    if (e % 2) result = (C)(result * a);
    a = (C)(a * a);
  }
  return result;
}
template <class E>
__device__ inline float f_power(float a, E exponent) {
  return m_pow(a, (float)exponent);
}
template <class E>
__device__ inline double f_power(double a, E exponent) {
  return m_pow(a, (double)exponent);
}

template <class C>
__device__ inline C f_gelu(C a) {
  return (C)0.5 * a * ((C)1 + m_erf(a * (C)0.70710678118654752440));
}
template <class C>
__device__ inline C f_gelu_tanh(C a) {
  return (C)0.5 * a * ((C)1 + m_tanh((C)0.79788456080286535588 * (a + (C)0.044715 * a * a * a)));
}

/// A cast rounds floats towards zero for integers.
template <class To, class From>
__device__ inline compute_t<To> f_cast(From a) {
  return value_of(Element<To>::of(a));
}

}  // namespace rh
