// float2, uint4 and their kin, with make_float2 and so on.
#pragma once

#define STAND_VECTORS(name, type)                                                             \
  struct name##1 { type x; };                                                                 \
  struct alignas(2 * sizeof(type)) name##2 { type x, y; };                                    \
  struct name##3 { type x, y, z; };                                                           \
  struct alignas(4 * sizeof(type) < 16 ? 4 * sizeof(type) : 16) name##4 { type x, y, z, w; }; \
  inline name##1 make_##name##1(type x) { return {x}; }                                       \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }                            \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                 \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }

STAND_VECTORS(char, signed char)
STAND_VECTORS(uchar, unsigned char)
STAND_VECTORS(short, short)
STAND_VECTORS(ushort, unsigned short)
STAND_VECTORS(int, int)
STAND_VECTORS(long, long)
STAND_VECTORS(ulong, unsigned long)
STAND_VECTORS(longlong, long long)
STAND_VECTORS(ulonglong, unsigned long long)
STAND_VECTORS(float, float)
STAND_VECTORS(double, double)

struct uint1 {
  unsigned x;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
