#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "tensor/value.h"

namespace rh::onnx {

/// The files beside a model that hold tensor data. A file counts only where it lies, symbolic links resolved, in the model's folder or in
/// the folder to which the model's own link leads (Hugging Face: snapshots/<revision>/model.onnx -> ../../blobs/<hash>, its data file
/// likewise).
class ExternalData {
 public:
  static ExternalData beside_model(const std::string& model_path);
  static ExternalData in_folder(const std::string& folder);
  /// Of a model that came as bytes alone.
  static ExternalData in_working_folder();

  /// Files in memory, by their location, and values that stand for tensors by their name; they stay the caller's as long as this lives.
  void add(std::map<std::string, std::span<const std::byte>, std::less<>> files, const std::map<std::string, Value>* values) {
    in_memory_ = std::move(files);
    values_ = values;
  }
  /// The value that stands for a tensor; null: none.
  const Value* value_for(std::string_view name) const;

  /// `bytes` bytes from `offset` on of the file at `location`: mapped where the alignment of the type allows, else copied.
  Tensor read(DType dtype, Shape shape, std::string_view location, uint64_t offset, size_t bytes);

  /// Error{fail} where the file read last is not what it was when it was opened.
  void check_unchanged() const;

  /// The resolved path of `location`. Throws Error{fail} where it is absolute or leads outside, Error{no_such_file} where nothing
  /// is there.
  std::string resolve(std::string_view location) const;

 private:
  bool is_inside(const std::string& path) const;
  [[noreturn]] void refuse_outside(std::string_view location, const std::string& path) const;

  std::vector<std::string> folders_;             ///< resolved
  ErrorCode missing_ = ErrorCode::no_such_file;  ///< the class of the error where a file is not there, as in ONNX Runtime
  const char* remedy_ = "put it beside the model";
  std::map<std::string, std::span<const std::byte>, std::less<>> in_memory_;
  const std::map<std::string, Value>* values_ = nullptr;
  std::string open_location_;
  std::unique_ptr<InputFile> open_file_;  ///< only the last one: some models have a file for each of thousands of tensors
  std::map<std::string, std::shared_ptr<const MappedFile>, std::less<>> mapped_;
};

}  // namespace rh::onnx
