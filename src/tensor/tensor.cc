#include "tensor/tensor.h"

#include <algorithm>
#include <cstring>

#include "base/aligned.h"
#include "base/fork_mutex.h"
#include "base/out_of_memory.h"
#include "base/pages.h"
#include "tensor/dispatch.h"
#include "tensor/narrowed.h"

namespace rh {

namespace {

// Larger pieces come from the system anew each time, and touching their pages costs more than what is done with them.
constexpr size_t kKeptByHeap = (size_t{32} << 20) - 8192;

class HostAllocator final : public Allocator {
 public:
  void* allocate(size_t bytes) override {
    if (bytes > kMoreThanMemory) throw OutOfMemory(bytes, "a tensor");
    const size_t rounded = std::max(kTensorAlignment, (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment);
    void* memory = allocate_aligned(kTensorAlignment, rounded);
    if (!memory) throw OutOfMemory(bytes, "a tensor");
    if (rounded > kKeptByHeap) prefer_large_pages(memory, rounded);
    return memory;
  }
  void deallocate(void* memory) override { free_aligned(memory); }
};

}  // namespace

Allocator& host_allocator() {
  static constinit ForkOnce<HostAllocator> allocator;
  return allocator.get();
}

std::string Device::to_string() const {
  static constexpr const char* kNames[] = {"cpu", "gpu", "npu", "other"};
  std::string text = kNames[static_cast<size_t>(type)];
  if (!is_host()) text += ":" + std::to_string(id);
  if (memory != 0) text += " (memory " + std::to_string(memory) + ")";
  return text;
}

Tensor::Tensor(DType dtype, Shape shape, Allocator& allocator) : dtype_(dtype), device_(allocator.device()), shape_(std::move(shape)) {
  const size_t count = static_cast<size_t>(shape_.elements());
  data_ = allocator.allocate(bytes_of(dtype, shape_.elements()));
  Allocator* source = &allocator;
  if (dtype == DType::string) {
    std::uninitialized_default_construct_n(static_cast<std::string*>(data_), count);
    owner_ = std::shared_ptr<void>(data_, [source, count](void* p) {
      std::destroy_n(static_cast<std::string*>(p), count);
      source->deallocate(p);
    });
  } else {
    owner_ = std::shared_ptr<void>(data_, [source](void* p) { source->deallocate(p); });
  }
}

Tensor::Tensor(DType dtype, Shape shape, void* data, std::shared_ptr<const void> owner, Device device)
    : dtype_(dtype), device_(device), shape_(std::move(shape)), data_(data), owner_(std::move(owner)) {}

bool is_aligned_for(DType dtype, uint64_t address) {
  const int bits = dtype == DType::complex128 ? 64 : dtype == DType::complex64 ? 32 : bits_of(dtype);
  return bits <= 8 || address % static_cast<uint64_t>(bits / 8) == 0;
}

Tensor Tensor::reshaped(Shape shape) const {
  if (shape.elements() != elements()) {
    fail(ErrorCode::invalid_argument, "cannot view shape {} as {}: the numbers of elements differ", shape_.to_string(), shape.to_string());
  }
  return Tensor(dtype_, std::move(shape), data_, owner_, device_);
}

Tensor Tensor::part(int64_t first, Shape shape) const {
  if (first == 0 && shape.elements() == elements()) return reshaped(std::move(shape));
  const bool is_packed = bytes_of(dtype_, 2) < 2;
  if (first < 0 || first > elements() || shape.elements() > elements() - first || is_packed) {
    fail(ErrorCode::invalid_argument, "cannot take shape {} from element {} of {}{}: expected whole bytes of what is there",
         shape.to_string(), first, rh::to_string(dtype_), shape_.to_string());
  }
  std::byte* const from = static_cast<std::byte*>(data_);
  return Tensor(dtype_, std::move(shape), first == 0 ? from : from + bytes_of(dtype_, first), owner_, device_);
}

Tensor Tensor::clone() const {
  Tensor copy(dtype_, shape_);
  copy_elements(view(), copy.mutable_view());
  return copy;
}

bool identical(const TensorView& a, const TensorView& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (a.dtype() == DType::string) return std::ranges::equal(a.span<std::string>(), b.span<std::string>());
  return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

void copy_elements(const TensorView& from, const MutableView& to) {
  if (from.dtype() == DType::string) {
    std::copy_n(from.data<std::string>(), from.elements(), to.data<std::string>());
  } else if (from.bytes() != 0 && from.raw() != to.raw()) {
    std::memmove(to.raw(), from.raw(), from.bytes());
  }
}

uint8_t packed_code(const void* data, int bits, int64_t i) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  const int64_t bit = i * bits;
  const int shift = static_cast<int>(bit & 7);
  unsigned word = bytes[bit >> 3] >> shift;
  if (shift + bits > 8) word |= static_cast<unsigned>(bytes[(bit >> 3) + 1]) << (8 - shift);
  return static_cast<uint8_t>(word & ((1u << bits) - 1));
}

void set_packed_code(void* data, int bits, int64_t i, uint8_t code) {
  uint8_t* bytes = static_cast<uint8_t*>(data);
  for (int k = 0; k < bits; ++k) {
    const int64_t bit = i * bits + k;
    const uint8_t mask = static_cast<uint8_t>(1u << (bit & 7));
    if ((code >> k) & 1) {
      bytes[bit >> 3] |= mask;
    } else {
      bytes[bit >> 3] &= static_cast<uint8_t>(~mask);
    }
  }
}

int64_t element_as_int(const TensorView& view, int64_t i) {
  const int bits = bits_of(view.dtype());
  if (bits > 0 && bits < 8) {
    if (!is_integer(view.dtype())) return static_cast<int64_t>(element_as_float(view, i));
    const int code = packed_code(view.raw(), bits, i);
    return is_signed_integer(view.dtype()) && code >= (1 << (bits - 1)) ? code - (1 << bits) : code;
  }
  int64_t value = 0;
  dispatch_or_throw<RealTypes>(view.dtype(), "integer element", [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<int64_t>(view.data<T>()[i]);
    } else {
      value = narrowed<int64_t>(static_cast<double>(view.data<T>()[i]));
    }
  });
  return value;
}

double element_as_double(const TensorView& view, int64_t i) {
  switch (view.dtype()) {
    case DType::float4e2m1: return decode_float(packed_code(view.raw(), 4, i), kFloat4E2M1Format);
    case DType::float6e2m3: return decode_float(packed_code(view.raw(), 6, i), kFloat6E2M3Format);
    case DType::float6e3m2: return decode_float(packed_code(view.raw(), 6, i), kFloat6E3M2Format);
    default: break;
  }
  if (bits_of(view.dtype()) < 8) return static_cast<double>(element_as_int(view, i));
  double value = 0;
  dispatch_or_throw<RealTypes>(view.dtype(), "real element", [&]<typename T>() { value = static_cast<double>(view.data<T>()[i]); });
  return value;
}

float element_as_float(const TensorView& view, int64_t i) { return static_cast<float>(element_as_double(view, i)); }

}  // namespace rh
