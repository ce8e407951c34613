#include "providers/gpu/plan/lowering.h"

#include <algorithm>
#include <bit>

#include "providers/gpu/lower/operators.h"
#include "providers/gpu/plan/merge_launches.h"

namespace rh::gpu {

namespace {

constexpr unsigned kElementThreads = 256;
constexpr int64_t kMostBlocks = 1 << 20;  // threads then take several elements

bool all_known(const SymbolicShape& contents) {
  return std::ranges::all_of(contents, [](const Dim& dim) { return dim.is_constant(); });
}

template <typename T>
void put(std::vector<std::byte>& bytes, T number) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof number);
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

}  // namespace

LaunchSize over_elements(int64_t n) {
  const int64_t blocks = std::clamp<int64_t>((n + kElementThreads - 1) / kElementThreads, 1, kMostBlocks);
  return {{static_cast<unsigned>(blocks)}, kElementThreads, 0};
}

LaunchSize over_blocks(int64_t blocks, unsigned threads, size_t shared_bytes) {
  return {{static_cast<unsigned>(std::clamp<int64_t>(blocks, 1, kMostBlocks))}, threads, static_cast<unsigned>(shared_bytes)};
}

unsigned threads_for_row(int64_t columns) {
  constexpr uint64_t kLeast = 32, kMost = 256;
  return static_cast<unsigned>(std::clamp(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(columns, 1))), kLeast, kMost));
}

std::string_view element_name(DType dtype) {
  switch (dtype) {
    case DType::float32: return "float";
    case DType::float64: return "double";
    case DType::float16: return "rh::half";
    case DType::bfloat16: return "rh::bfloat16";
    case DType::int8: return "signed char";
    case DType::uint8: return "unsigned char";
    case DType::int16: return "short";
    case DType::uint16: return "unsigned short";
    case DType::int32: return "int";
    case DType::uint32: return "unsigned int";
    case DType::int64: return "long long";
    case DType::uint64: return "unsigned long long";
    case DType::boolean: return "bool";
    default: return {};
  }
}

std::string_view mover_name(DType dtype) {
  switch (bits_of(dtype)) {
    case 8: return "unsigned char";
    case 16: return "unsigned short";
    case 32: return "unsigned int";
    case 64: return "unsigned long long";
    default: return {};
  }
}

Lowering::Lowering(const StaticRegion& region, const DeviceFacts& device)
    : region_(region), device_(device), first_scratch_(region.graph->value_count()) {}

Shape Lowering::shape(ValueId value) const {
  const ValueType& type = graph().value(value).type;
  if (!type.is_tensor() || !type.tensor().has_rank() || !type.tensor().is_static()) {
    fail(ErrorCode::ep_fail, "the sizes of '{}', {}, do not follow from those of the inputs", graph().value(value).name, type.to_string());
  }
  return type.tensor().shape();
}

DType Lowering::dtype(ValueId value) const { return graph().value(value).type.tensor().dtype; }

std::optional<std::vector<int64_t>> Lowering::ints(ValueId value) const {
  std::vector<int64_t> numbers;
  if (const Tensor* tensor = graph().value(value).constant_tensor(); tensor && is_integer(tensor->dtype())) {
    for (int64_t i = 0; i < tensor->elements(); ++i) numbers.push_back(element_as_int(tensor->view(), i));
    return numbers;
  }
  const auto known = region_.contents.find(value);
  if (known == region_.contents.end() || !all_known(known->second)) return std::nullopt;
  for (const Dim& dim : known->second) numbers.push_back(dim.value());
  return numbers;
}

std::optional<std::vector<int64_t>> Lowering::ints(const NodeView& node, const ops::IntsOperand& operand) const {
  if (operand.values) return operand.values;
  if (operand.input < 0 || !node.has_input(operand.input)) return std::nullopt;
  auto numbers = ints(node.node().inputs[static_cast<size_t>(operand.input)]);
  if (!numbers) node.fail("the values of input {} are not known before the run", operand.input);
  return numbers;
}

std::vector<float> Lowering::floats(const NodeView& node, int input) const {
  const ValueId value = node.node().inputs[static_cast<size_t>(input)];
  const Tensor* tensor = graph().value(value).constant_tensor();
  if (const auto given = region_.host.find(value); given != region_.host.end()) tensor = &given->second;
  if (!tensor) node.fail("the values of input {} are not known before the run", input);
  std::vector<float> numbers;
  for (int64_t i = 0; i < tensor->elements(); ++i) numbers.push_back(static_cast<float>(element_as_double(tensor->view(), i)));
  return numbers;
}

Root Lowering::root(ValueId value) const {
  const auto at = views_.find(value);
  return at == views_.end() ? Root{value, 0} : at->second;
}

bool Lowering::is_host(ValueId value) const {
  if (is_constant(value)) return false;
  if (region_.host.contains(value)) return true;
  const auto known = region_.contents.find(value);
  return graph().value(value).producer != kNoNode && known != region_.contents.end() && all_known(known->second);
}

std::vector<std::byte> Lowering::host_bytes(ValueId value) const {
  std::vector<std::byte> bytes;
  if (const auto given = region_.host.find(value); given != region_.host.end()) {
    const auto* first = static_cast<const std::byte*>(given->second.raw());
    return {first, first + given->second.bytes()};
  }
  for (const Dim& dim : region_.contents.at(value)) {
    switch (dtype(value)) {
      case DType::int64: put(bytes, dim.value()); break;
      case DType::int32: put(bytes, static_cast<int32_t>(dim.value())); break;
      case DType::boolean: put(bytes, dim.value() != 0); break;
      default: fail(ErrorCode::ep_fail, "'{}' is known on the host and of type {}", graph().value(value).name, to_string(dtype(value)));
    }
  }
  return bytes;
}

ValueId Lowering::scratch(DType dtype, const Shape& shape) {
  SymbolicShape dims;
  for (int64_t size : shape) dims.emplace_back(size);
  return region_.graph->add_value(fmt::format("scratch of {}", graph().node(node_).display_name()),
                                  ValueType::tensor(dtype, std::move(dims)));
}

void Lowering::add(Launch launch) { launches_.push_back(std::move(launch)); }

void Lowering::add_open(Launch launch, ValueId result) {
  const GraphValue& value = graph().value(result);
  if (!value.is_output && value.consumers.size() == 1) open_[result] = launches_.size();
  add(std::move(launch));
}

std::optional<Launch> Lowering::take_open(ValueId value) {
  const auto at = open_.find(value);
  if (at == open_.end()) return std::nullopt;
  const size_t number = at->second;
  open_.erase(at);
  for (auto& [other, place] : open_) place -= place > number;
  Launch taken = std::move(launches_[number]);
  launches_.erase(launches_.begin() + static_cast<std::ptrdiff_t>(number));
  return taken;
}

void Lowering::view(ValueId made, ValueId of, int64_t offset) {
  Root at = root(of);
  at.offset += offset;
  views_[made] = at;
}

int Lowering::output_of(ValueId root) const {
  const auto at = output_of_.find(root);
  return at == output_of_.end() ? -1 : at->second;
}

void Lowering::copy(ValueId from, ValueId to) { copy_to(from, {offsetof(MoveArguments, to), to, true}); }

void Lowering::copy_to(ValueId from, const Operand& to) {
  const int64_t n = shape(from).elements();
  if (n == 0) return;
  MoveArguments arguments{};
  arguments.n = n;
  launch({"move", fmt::format("copy<{}>", mover_name(dtype(from)))}, over_elements(n), arguments,
         {{offsetof(MoveArguments, from), from}, to});
}

// What inference tells of a node's results needs no launch.
bool Lowering::is_known(const Node& node) const {
  return std::ranges::all_of(node.outputs, [&](ValueId output) { return output == kNoValue || is_host(output); });
}

void Lowering::run() {
  for (NodeId id : graph().topological_order()) {
    const Node& node = graph().node(id);
    if (is_known(node)) continue;
    const Operator* row = find_operator(node.domain, node.op_type);
    if (!row) fail(ErrorCode::ep_fail, "there is no kernel for {}", node.op_text());
    node_ = id;
    row->lower(NodeView(graph(), node), *this);
  }
  finish_outputs();
  merge_launches(*this, launches_);
}

// An output has memory of its own, which the launch that makes it writes; of a view, an input, a constant, or what is another output as
// well, it is a copy.
void Lowering::finish_outputs() {
  const std::vector<ValueId>& outputs = graph().outputs();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ValueId output = outputs[i];
    const Root at = root(output);
    const bool is_own = is_made(at.value) && !is_host(at.value) && !is_constant(at.value);
    const bool is_whole = at.offset == 0 && shape(at.value).elements() == shape(output).elements();
    if (is_own && is_whole && output_of_.emplace(at.value, static_cast<int>(i)).second) continue;
    node_ = graph().value(output).producer;
    copy_to(output, {offsetof(MoveArguments, to), output, true, static_cast<int>(i)});
  }
}

}  // namespace rh::gpu
