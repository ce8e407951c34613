#pragma once

#include <compare>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace rh {

/// A kind of memory. Host memory is what the CPU reads and writes directly.
struct Device {
  enum class Type : uint8_t { cpu, gpu, npu, other };
  Type type = Type::cpu;
  uint8_t memory = 0;  ///< 0: the device's default memory; others as its provider defines
  int16_t id = 0;
  uint32_t vendor = 0;  ///< PCI id of who made it; 0: not told, and of host memory

  bool is_host() const { return type == Type::cpu; }
  std::string to_string() const;  ///< "cpu", "gpu:0", "npu:1 (memory 2)"
  friend bool operator==(const Device&, const Device&) = default;
  friend auto operator<=>(const Device&, const Device&) = default;
};

inline constexpr size_t kTensorAlignment = 64;

/// Gives and takes back memory; thread-safe.
class Allocator {
 public:
  virtual ~Allocator() = default;
  /// At least kTensorAlignment aligned; throws std::bad_alloc. 0 bytes give a pointer that may be freed.
  virtual void* allocate(size_t bytes) = 0;
  virtual void deallocate(void* memory) = 0;
  virtual Device device() const { return {}; }
};

/// The process-wide allocator of host memory.
Allocator& host_allocator();

/// A read-only look at a contiguous, row-major tensor. Valid as long as what it looks at.
class TensorView {
 public:
  TensorView() = default;
  TensorView(DType dtype, const Shape& shape, const void* data) : dtype_(dtype), shape_(&shape), data_(data) {}

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return *shape_; }
  int rank() const { return shape_->rank(); }
  int64_t elements() const { return shape_->elements(); }
  size_t bytes() const { return bytes_of(dtype_, elements()); }
  const void* raw() const { return data_; }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  std::span<const T> span() const {
    return {data<T>(), static_cast<size_t>(elements())};
  }

 private:
  DType dtype_ = DType::undefined;
  const Shape* shape_ = nullptr;
  const void* data_ = nullptr;
};

/// The same, to be written.
class MutableView {
 public:
  MutableView() = default;
  MutableView(DType dtype, const Shape& shape, void* data) : dtype_(dtype), shape_(&shape), data_(data) {}

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return *shape_; }
  int rank() const { return shape_->rank(); }
  int64_t elements() const { return shape_->elements(); }
  size_t bytes() const { return bytes_of(dtype_, elements()); }
  void* raw() const { return data_; }
  template <typename T>
  T* data() const {
    return static_cast<T*>(data_);
  }
  template <typename T>
  std::span<T> span() const {
    return {data<T>(), static_cast<size_t>(elements())};
  }
  operator TensorView() const { return {dtype_, *shape_, data_}; }

 private:
  DType dtype_ = DType::undefined;
  const Shape* shape_ = nullptr;
  void* data_ = nullptr;
};

/// Whether elements at this address (or at this offset of a page) are aligned for their type.
bool is_aligned_for(DType dtype, uint64_t address);

/// A contiguous, row-major tensor: type, shape and memory that it shares by count or borrows. Copying a Tensor copies no elements.
class Tensor {
 public:
  Tensor() = default;
  /// Uninitialised (strings: empty) memory from `allocator`.
  Tensor(DType dtype, Shape shape, Allocator& allocator = host_allocator());
  /// Memory of somebody else; `owner` keeps it alive, null where the caller promises to.
  Tensor(DType dtype, Shape shape, void* data, std::shared_ptr<const void> owner, Device device = {});

  template <typename T>
  static Tensor from(Shape shape, std::span<const T> values) {
    Tensor tensor(dtype_of<T>, std::move(shape));
    std::copy(values.begin(), values.end(), tensor.data<T>());
    return tensor;
  }
  template <typename T>
  static Tensor scalar(T value) {
    return from<T>({}, std::span<const T>(&value, 1));
  }
  /// A 1-D int64 tensor.
  static Tensor ints(std::span<const int64_t> values) { return from<int64_t>({static_cast<int64_t>(values.size())}, values); }

  bool defined() const { return dtype_ != DType::undefined; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t elements() const { return shape_.elements(); }
  size_t bytes() const { return bytes_of(dtype_, elements()); }
  Device device() const { return device_; }
  bool owns_memory() const { return owner_ != nullptr; }
  const std::shared_ptr<const void>& owner() const { return owner_; }

  void* raw() { return data_; }
  const void* raw() const { return data_; }
  template <typename T>
  T* data() {
    return static_cast<T*>(data_);
  }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  std::span<const T> span() const {
    return {data<T>(), static_cast<size_t>(elements())};
  }

  TensorView view() const { return {dtype_, shape_, data_}; }
  MutableView mutable_view() { return {dtype_, shape_, data_}; }
  /// The same memory under another shape of as many elements.
  Tensor reshaped(Shape shape) const;
  /// The elements from `first` on, under this shape: the same memory. Throws Error{invalid_argument} where there are not as many, or where
  /// they begin within a byte.
  Tensor part(int64_t first, Shape shape) const;
  /// A deep copy in host memory.
  Tensor clone() const;
  /// The same memory where it is aligned for the elements, else a deep copy.
  Tensor aligned() const { return is_aligned_for(dtype_, reinterpret_cast<uintptr_t>(data_)) ? *this : clone(); }

 private:
  DType dtype_ = DType::undefined;
  Device device_;
  Shape shape_;
  void* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

/// Same type, shape and bytes (floats bitwise, strings by value). For tests and folding, host memory only.
bool identical(const TensorView& a, const TensorView& b);

/// Copies elements of equal type and number; strings are assigned.
void copy_elements(const TensorView& from, const MutableView& to);

/// Element i of a packed (4- or 2-bit, 6-bit) or byte-wide integer or float tensor, as float or as int64.
float element_as_float(const TensorView& view, int64_t i);
double element_as_double(const TensorView& view, int64_t i);
int64_t element_as_int(const TensorView& view, int64_t i);
/// Code (raw bits) of an element narrower than a byte.
uint8_t packed_code(const void* data, int bits, int64_t i);
void set_packed_code(void* data, int bits, int64_t i, uint8_t code);

}  // namespace rh
