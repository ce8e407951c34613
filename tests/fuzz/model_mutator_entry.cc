#include <cstring>
#include <string>

#include "fuzz/model_mutator.h"

namespace {

size_t give(const std::string& result, uint8_t* to, size_t max_size) {
  const size_t size = std::min(result.size(), max_size);
  if (size > 0) std::memcpy(to, result.data(), size);
  return size;
}

std::string_view text_of(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  return give(rh::fuzz::mutate_model(text_of(data, size), max_size, seed), data, max_size);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, uint8_t* out, size_t max_size,
                                            unsigned seed) {
  return give(rh::fuzz::cross_models(text_of(a, a_size), text_of(b, b_size), max_size, seed), out, max_size);
}
