#include "base/byte_products.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rh {

bool has_byte_products() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  const bool has_wide = b >> 16 & 1 && c >> 11 & 1;  // AVX-512 with VNNI
  return has_wide || (__get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1);
#else
  return true;
#endif
}

}  // namespace rh
