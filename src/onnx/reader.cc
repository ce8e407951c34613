#include "onnx/reader.h"

#include <algorithm>

#include "base/file.h"
#include "onnx/graph_reader.h"
#include "onnx/located.h"
#include "onnx/nchwc_blocks.h"
#include "onnx/ort_format.h"
#include "onnx/value_reader.h"

namespace rh::onnx {

namespace {

std::string_view text_of(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

void check_header(ModelFields& fields, bool released_opsets_only) {
  if (fields.graph.empty()) fail(ErrorCode::invalid_argument, "the model has no graph: the data is empty, truncated or not an ONNX model");
  if (!fields.ir_version) fail(ErrorCode::fail, "Missing model IR version: expected 1 to {}", kNewestIrVersion);
  check_ir_version(*fields.ir_version);
  if (fields.imports.empty() && (*fields.ir_version < 1 || *fields.ir_version >= 3)) {
    fail(ErrorCode::fail, "Missing opset in the model: expected an opset import for each domain that it uses");
  }
  for (auto& [domain, version] : fields.imports) {
    if (!released_opsets_only) version = known_version(domain, version);
    check_import(domain, version);
  }
}

// Functions that call functions grow exponentially: what they expand to is bounded by the size of the file.
ReadLimits limits_for(size_t bytes, const ReadOptions& options) {
  ReadLimits limits = options.limits;
  constexpr int64_t kLeastNodes = 4000, kNodesAByte = 8, kLeastBytes = 16 << 20, kBytesAByte = 16;
  limits.inlined_nodes = std::min(limits.inlined_nodes, kLeastNodes + kNodesAByte * static_cast<int64_t>(bytes));
  limits.inlined_bytes = kLeastBytes + kBytesAByte * static_cast<int64_t>(bytes);
  if (options.most_function_nodes > 0) limits.inlined_nodes = options.most_function_nodes;
  if (options.most_function_bytes > 0) limits.inlined_bytes = options.most_function_bytes;
  limits.counts_names = options.most_function_bytes > 0;
  return limits;
}

Model read_onnx_format(std::string_view bytes, TensorReader& tensors, const ReadOptions& options) {
  ModelFields fields = ModelFields::parse(bytes);
  check_header(fields, options.released_opsets_only);
  if (fields.imports.empty()) fields.imports.emplace_back("", 1);
  const GraphFields graph = GraphFields::parse(fields.graph);
  Model model;
  model.ir_version = *fields.ir_version;
  model.model_version = fields.model_version.value_or(kNoModelVersion);
  model.producer_name = fields.producer_name;
  model.producer_version = fields.producer_version;
  model.domain = fields.domain;
  model.description = fields.doc_string;
  model.graph_description = graph.doc_string;
  model.metadata = std::move(fields.metadata);
  GraphReader(fields, tensors, limits_for(bytes.size(), options), options.domains).read_main(graph, *model.graph);
  return model;
}

Model build(std::string_view bytes, TensorReader& tensors, const ReadOptions& options) {
  const bool is_ort = is_ort_format(bytes);
  using Format = ReadOptions::Format;
  if (options.format == (is_ort ? Format::onnx : Format::ort)) {
    fail(ErrorCode::fail, "the model is in the {} format, expected the {} format, which 'session.load_model_format' asks for",
         is_ort ? "ORT" : "ONNX", is_ort ? "ONNX" : "ORT");
  }
  Model model = is_ort ? read_ort_format(bytes, tensors, options.limits) : read_onnx_format(bytes, tensors, options);
  undo_nchwc_blocks(*model.graph);
  return model;
}

}  // namespace

InputFile open_model(const std::string& path) {
  return located([&] { return Where{.file = path, .node = {}, .op = {}, .tensor = {}}; }, [&] { return InputFile(path); });
}

Model read_model(const std::string& path, const ReadOptions& options) { return read_model(open_model(path), options); }

Model read_model(const InputFile& file, const ReadOptions& options) {
  return located([&] { return Where{.file = file.path(), .node = {}, .op = {}, .tensor = {}}; },
                 [&] {
                   const auto mapping = MappedFile::shared(file);
                   ExternalData external =
                       options.folder.empty() ? ExternalData::beside_model(file.path()) : ExternalData::in_folder(options.folder);
                   external.add(options.files, options.initializers);
                   const std::string_view bytes = text_of(mapping->bytes());
                   TensorReader tensors({.bytes = bytes,
                                         .in_place = true,
                                         .owner = mapping,
                                         .file = &file,
                                         .constant = true,
                                         .tables_in_place = options.tables_in_place,
                                         .weights_in_place = options.weights_in_place},
                                        &external);
                   Model model = build(bytes, tensors, options);
                   file.check_unchanged();
                   external.check_unchanged();
                   model.path = file.path();
                   return model;
                 });
}

Model read_model(std::span<const std::byte> bytes, const ReadOptions& options) {
  return located([] { return Where{}; },
                 [&] {
                   ExternalData external =
                       options.folder.empty() ? ExternalData::in_working_folder() : ExternalData::in_folder(options.folder);
                   external.add(options.files, options.initializers);
                   const bool borrow = options.buffer_use == ReadOptions::BufferUse::borrow;
                   TensorReader tensors({.bytes = text_of(bytes),
                                         .in_place = borrow,
                                         .owner = borrow ? options.owner : nullptr,
                                         .constant = true,
                                         .tables_in_place = options.tables_in_place,
                                         .weights_in_place = options.weights_in_place},
                                        &external);
                   Model model = build(text_of(bytes), tensors, options);
                   external.check_unchanged();
                   return model;
                 });
}

std::vector<std::pair<std::string, std::string>> read_metadata(std::span<const std::byte> bytes) {
  if (is_ort_format(text_of(bytes))) return {};
  return ModelFields::parse(text_of(bytes)).metadata;
}

Tensor read_tensor(std::span<const std::byte> bytes, std::string* name) {
  TensorReader tensors({.bytes = text_of(bytes)}, nullptr);
  std::string_view text;
  Tensor tensor = tensors.read(text_of(bytes), &text);
  if (name) *name = text;
  return tensor;
}

Value read_value(std::span<const std::byte> bytes, const ValueType& type) {
  return located([] { return Where{}; }, [&] { return read_value_message(text_of(bytes), type.kind()); });
}

}  // namespace rh::onnx
