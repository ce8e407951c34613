#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "graph/graph.h"
#include "onnx/external_data.h"
#include "tensor/value.h"

namespace rh::onnx {

/// Smaller tensors are copied even where they could stay where they are.
inline constexpr size_t kInPlaceBytes = 4096;

inline constexpr size_t kMaxRank = 64;

/// The bytes that a message was read from.
struct Buffer {
  std::string_view bytes;
  bool in_place = false;              ///< tensors may look into the buffer
  std::shared_ptr<const void> owner;  ///< keeps the buffer alive
  const InputFile* file = nullptr;    ///< where the buffer is the mapping of a file
  bool constant = false;              ///< nobody changes the tensors read: equal ones may share their memory
  bool tables_in_place = false;       ///< initializers may look into it at any address until align_read(), and then those that are tables
  bool weights_in_place = false;      ///< or weights (graph/constant_addresses.h)
};

/// Uninitialised memory that goes back to the system when its last owner lets go of it, unlike the heap's.
Tensor page_tensor(DType dtype, Shape shape);

/// Which addresses of the buffer a tensor may look at.
enum class Alignment : uint8_t { element, any };

/// Decodes tensors. What a tensor claims is checked against the bytes that are there before memory is taken for it.
class TensorReader {
 public:
  /// `external` may be null: external data is refused.
  TensorReader(Buffer buffer, ExternalData* external) : buffer_(std::move(buffer)), external_(external) {}

  /// A TensorProto inside the buffer. `name` and `location`, where given, get the tensor's name and where its data lies if that is outside
  /// the message. Alignment::any counts where the buffer leaves tables in place.
  Tensor read(std::string_view message, std::string_view* name = nullptr, std::optional<ExternalLocation>* location = nullptr,
              Alignment alignment = Alignment::element);
  /// A tensor of these elements, as many bytes as it has, which stay where they are where they may.
  Tensor read_raw(DType dtype, Shape shape, std::string_view raw, Alignment alignment) const;
  /// A copy in memory of its own of raw data; of bytes of the buffer's file it is read anew.
  Tensor copy(DType dtype, Shape shape, std::string_view raw) const;
  /// Copies what may not stay at its address in the buffer, once all of a graph is read.
  void align_read(Graph& graph) const;
  /// A SparseTensorProto: COO with linear [nnz] or [nnz, rank] indices. `name` gets the name of its values.
  SparseTensor read_sparse(std::string_view message, std::string_view* name = nullptr);

 private:
  struct Fields;
  Fields parse(std::string_view message) const;
  Tensor read_fields(const Fields& fields, std::string_view message, Alignment alignment);
  Tensor read_external(const Fields& fields, DType dtype, Shape shape, size_t bytes);
  bool is_inside(std::string_view raw) const;

  Buffer buffer_;
  ExternalData* external_;
};

/// What a sparse initializer becomes: dense where that takes bearable memory.
Value initializer_of(SparseTensor sparse);

}  // namespace rh::onnx
