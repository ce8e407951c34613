#include "onnx/external_data.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/known_words.h"
#include "onnx/tensor_reader.h"

namespace rh::onnx {

namespace {

std::string shortened(std::string_view text) {
  constexpr size_t kLongest = 300;
  return fmt::format("{}{}", text.substr(0, kLongest), text.size() <= kLongest ? "" : "...");
}

}  // namespace

ExternalData ExternalData::beside_model(const std::string& model_path) {
  ExternalData data = in_folder(parent_folder(model_path));
  if (const auto resolved = resolve_path(model_path)) {
    std::string folder = parent_folder(*resolved);
    if (std::find(data.folders_.begin(), data.folders_.end(), folder) == data.folders_.end()) data.folders_.push_back(std::move(folder));
  }
  return data;
}

ExternalData ExternalData::in_folder(const std::string& folder) {
  ExternalData data;
  if (!folder.empty()) {
    if (auto resolved = resolve_path(folder)) data.folders_.push_back(std::move(*resolved));
  }
  return data;
}

ExternalData ExternalData::in_working_folder() {
  ExternalData data = in_folder(".");
  data.missing_ = ErrorCode::fail;
  data.remedy_ = "load the model from its path, or put the file into the working directory";
  return data;
}

std::string ExternalData::resolve(std::string_view location) const {
  if (folders_.empty()) {
    fail(ErrorCode::fail,
         "the data is in the external file '{}', but the model came without a folder: load it from its path, or name the folder", location);
  }
  if (location.empty() || location.find('\0') != std::string_view::npos || is_absolute_path(location)) {
    fail(ErrorCode::fail, "the location of external data is '{}', expected a path relative to the model's folder", location);
  }
  std::string outside;
  for (const std::string& base : folders_) {
    auto path = resolve_path(join_path(base, location));
    if (!path) continue;
    if (is_inside(*path)) return *path;
    outside = std::move(*path);
  }
  if (!outside.empty()) refuse_outside(location, outside);
  fail(missing_, "the external data file '{}' does not exist in '{}': {}", shortened(location), folders_[0], remedy_);
}

bool ExternalData::is_inside(const std::string& path) const {
  return std::any_of(folders_.begin(), folders_.end(), [&](const std::string& folder) { return is_below(folder, path); });
}

void ExternalData::refuse_outside(std::string_view location, const std::string& path) const {
  fail(ErrorCode::fail, "{}: the location of external data '{}' escapes to '{}', outside the model's folder '{}': refused",
       words::kExternalPath, location, path, folders_[0]);
}

void ExternalData::check_unchanged() const {
  if (open_file_) open_file_->check_unchanged();
}

const Value* ExternalData::value_for(std::string_view name) const {
  if (!values_) return nullptr;
  const auto at = values_->find(std::string(name));
  return at == values_->end() ? nullptr : &at->second;
}

Tensor ExternalData::read(DType dtype, Shape shape, std::string_view location, uint64_t offset, size_t bytes) {
  if (const auto file = in_memory_.find(location); file != in_memory_.end()) {
    const std::span<const std::byte> content = file->second;
    if (offset > content.size() || bytes > content.size() - offset) {
      fail(ErrorCode::fail, "the external data file '{}', given in memory, has {} bytes, expected {} bytes from offset {} on", location,
           content.size(), bytes, offset);
    }
    Tensor tensor = page_tensor(dtype, std::move(shape));
    if (bytes != 0) std::memcpy(tensor.raw(), content.data() + offset, bytes);
    return tensor;
  }
  if (!open_file_ || open_location_ != location) {
    check_unchanged();
    open_file_ = std::make_unique<InputFile>(resolve(location), InputFile::Links::refuse_last);
    open_location_ = location;
    // A folder on the way may have become a link since the path was resolved.
    if (const auto path = open_file_->real_path(); path && !is_inside(*path)) {
      open_file_.reset();
      refuse_outside(location, *path);
    }
  }
  const uint64_t size = open_file_->size();
  if (offset > size || bytes > size - offset) {
    fail(ErrorCode::fail, "the external data file '{}' has {} bytes, expected {} bytes from offset {} on", open_file_->path(), size, bytes,
         offset);
  }
  if (bytes < kInPlaceBytes || !is_aligned_for(dtype, offset)) {
    Tensor tensor = page_tensor(dtype, std::move(shape));
    open_file_->read(offset, tensor.raw(), bytes);
    return tensor;
  }
  std::shared_ptr<const MappedFile>& mapped = mapped_[open_location_];
  if (!mapped || mapped->bytes().size() < offset + bytes) mapped = MappedFile::shared(*open_file_);
  const std::byte* data = mapped->bytes().data() + offset;
  return Tensor(dtype, std::move(shape), const_cast<std::byte*>(data), mapped);
}

}  // namespace rh::onnx
