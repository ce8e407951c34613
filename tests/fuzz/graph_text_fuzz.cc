#include <cstdint>

#include "fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rh::fuzz::read_graph_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
