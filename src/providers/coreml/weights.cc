#include "providers/coreml/weights.h"

#include <array>
#include <cstring>

#include "base/error.h"
#include "base/file.h"

namespace rh::coreml {

namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint32_t kVersion = 2, kMark = 0xDEADBEEF;

/// What stands before a constant's data; the file's numbers are little-endian, as those of every system with Core ML.
struct Description {
  uint32_t mark = kMark;
  uint32_t type = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;  ///< of the data
  std::array<uint64_t, 5> reserved = {};
};
struct Head {
  uint32_t count = 0;
  uint32_t version = kVersion;
  std::array<uint64_t, 7> reserved = {};
};
static_assert(sizeof(Description) == kAlignment && sizeof(Head) == kAlignment);

/// The file's own numbers of types.
uint32_t number_of(DType dtype) {
  switch (dtype) {
    case DType::float16: return 1;
    case DType::float32: return 2;
    default: fail(ErrorCode::not_implemented, "a constant of {} has no place among Core ML's weights", to_string(dtype));
  }
}

uint64_t padded(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

uint64_t WeightFile::add(Tensor tensor) {
  number_of(tensor.dtype());
  const uint64_t offset = size_;
  size_ += kAlignment + padded(tensor.bytes());
  tensors_.push_back(std::move(tensor));
  return offset;
}

void WeightFile::for_each_piece(FunctionRef<void(std::span<const std::byte>)> each) const {
  const Head head{.count = static_cast<uint32_t>(tensors_.size())};
  each(std::as_bytes(std::span(&head, 1)));
  constexpr std::array<std::byte, kAlignment> kPadding = {};
  uint64_t at = sizeof(head);
  for (const Tensor& tensor : tensors_) {
    const Description description{.type = number_of(tensor.dtype()), .bytes = tensor.bytes(), .offset = at + kAlignment};
    each(std::as_bytes(std::span(&description, 1)));
    each({static_cast<const std::byte*>(tensor.raw()), tensor.bytes()});
    each(std::span(kPadding).first(padded(tensor.bytes()) - tensor.bytes()));
    at += kAlignment + padded(tensor.bytes());
  }
}

void WeightFile::write(const std::string& path) const {
  OutputFile file(path);
  for_each_piece([&](std::span<const std::byte> bytes) { file.write(bytes.data(), bytes.size()); });
  file.commit();
}

}  // namespace rh::coreml
