#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "tensor/dtype.h"

namespace rh::compute {

/// What of an element counts where it is only moved: how many bytes it has, or that it is a std::string object.
enum class ElementKind : uint8_t { bytes1, bytes2, bytes4, bytes8, bytes16, string };

/// Types narrower than a byte count as one byte: they are unpacked to a byte each before they are moved.
ElementKind element_kind(DType dtype);
size_t element_bytes(ElementKind kind);

/// Any element of 16 bytes.
struct Bytes16 {
  uint64_t low, high;
};

/// Calls f<T>() with a type that is assigned as elements of this kind are.
template <typename F>
decltype(auto) dispatch_kind(ElementKind kind, F&& f) {
  switch (kind) {
    case ElementKind::bytes1: return f.template operator()<uint8_t>();
    case ElementKind::bytes2: return f.template operator()<uint16_t>();
    case ElementKind::bytes4: return f.template operator()<uint32_t>();
    case ElementKind::bytes8: return f.template operator()<uint64_t>();
    case ElementKind::bytes16: return f.template operator()<Bytes16>();
    default: return f.template operator()<std::string>();
  }
}

/// Copies `count` contiguous elements; the ranges do not overlap.
void copy_elements(ElementKind kind, const void* from, void* to, int64_t count);
/// The same of elements of a type that dispatch_kind() gives for `kind`: a single one costs no call.
template <typename T>
void copy_block(ElementKind kind, const T* from, T* to, int64_t count) {
  if (count == 1)
    *to = *from;
  else
    copy_elements(kind, from, to, count);
}
/// Writes `count` copies of `element`, contiguously.
void fill_elements(ElementKind kind, const void* element, void* to, int64_t count);

/// One byte an element from codes of 2, 4 or 6 bits, first element in the low bits, and back.
void unpack_elements(int bits, const void* from, uint8_t* to, int64_t count);
void pack_elements(int bits, const uint8_t* from, void* to, int64_t count);

}  // namespace rh::compute
