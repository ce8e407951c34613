#include "compute/move/elements.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "compute/move/copy.h"
#include "tensor/tensor.h"

namespace rh::compute {

ElementKind element_kind(DType dtype) {
  if (dtype == DType::string) return ElementKind::string;
  switch (bits_of(dtype)) {
    case 16: return ElementKind::bytes2;
    case 32: return ElementKind::bytes4;
    case 64: return ElementKind::bytes8;
    case 128: return ElementKind::bytes16;
    default: return ElementKind::bytes1;
  }
}

size_t element_bytes(ElementKind kind) { return kind == ElementKind::string ? sizeof(std::string) : size_t{1} << static_cast<int>(kind); }

void copy_elements(ElementKind kind, const void* from, void* to, int64_t count) {
  if (count <= 0) return;
  if (kind == ElementKind::string) {
    std::copy_n(static_cast<const std::string*>(from), count, static_cast<std::string*>(to));
  } else {
    copy_bytes(from, to, static_cast<size_t>(count) * element_bytes(kind));
  }
}

void fill_elements(ElementKind kind, const void* element, void* to, int64_t count) {
  if (count <= 0) return;
  constexpr int64_t kBlockBytes = 2048;  // that later blocks are copies of
  dispatch_kind(kind, [&]<typename T>() {
    T* first = static_cast<T*>(to);
    if constexpr (std::is_trivially_copyable_v<T>) {
      constexpr T kZero{};
      if (std::memcmp(element, &kZero, sizeof(T)) == 0) {
        std::memset(to, 0, static_cast<size_t>(count) * sizeof(T));
        return;
      }
    }
    constexpr int64_t kBlock = kBlockBytes / static_cast<int64_t>(sizeof(T));
    const bool blocks = std::is_trivially_copyable_v<T> && count > kBlock;
    std::fill_n(first, blocks ? kBlock : count, *static_cast<const T*>(element));
    if constexpr (std::is_trivially_copyable_v<T>) {
      for (int64_t i = kBlock; i < count; i += kBlock)
        std::memcpy(first + i, first, static_cast<size_t>(std::min(kBlock, count - i)) * sizeof(T));
    }
  });
}

void unpack_elements(int bits, const void* from, uint8_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = packed_code(from, bits, i);
}

void pack_elements(int bits, const uint8_t* from, void* to, int64_t count) {
  if (count <= 0) return;
  std::memset(to, 0, static_cast<size_t>((count * bits + 7) / 8));
  for (int64_t i = 0; i < count; ++i) set_packed_code(to, bits, i, from[i]);
}

}  // namespace rh::compute
