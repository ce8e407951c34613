#include <algorithm>

#include "ops/node_view.h"
#include "providers/kit/regions/leases.h"
#include "providers/kit/shapes/padding.h"
#include "providers/kit/shapes/plan_classes.h"
#include "providers/sample/executable.h"

namespace rh::sample {

namespace {

constexpr size_t kPlanBytes = size_t{64} << 20, kLeases = 4;

/// The symbols of a graph whose sizes must stay as they are: padding would change results where a product sums over them, and where it is
/// not known that they are the size of what they meet.
class FixedSymbols {
 public:
  explicit FixedSymbols(const Graph& graph) : graph_(graph) {
    for (NodeId id : graph.nodes()) add(graph.node(id));
  }
  std::set<std::string, std::less<>> take() { return std::move(names_); }

 private:
  const SymbolicShape& dims(ValueId id) const {
    static const SymbolicShape kScalar;
    const ValueType& type = graph_.value(id).type;
    return type.is_tensor() && type.tensor().has_rank() ? *type.tensor().dims : kScalar;
  }
  void fix(const Dim& dim) {
    dim.for_each_symbol([&](std::string_view name) { names_.emplace(name); });
  }
  void meet(const Dim& a, const Dim& b) {
    if (a == b || a.is_constant(1) || b.is_constant(1)) return;
    fix(a);
    fix(b);
  }

  void add(const Node& node) {
    if (node.op_type == "If") {
      for (ValueId id : node.implicit_inputs) std::ranges::for_each(dims(id), [&](const Dim& dim) { fix(dim); });
      return;
    }
    const SymbolicShape &a = dims(node.inputs[0]), &b = dims(node.inputs[1]);
    if (node.op_type == "MatMul") {
      fix(a[1]);
      return fix(b[0]);
    }
    for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) meet(a[a.size() - i], b[b.size() - i]);
  }

  const Graph& graph_;
  std::set<std::string, std::less<>> names_;
};

/// What a run needs alone: inputs that are padded, and results that are.
struct Padded {
  std::vector<Tensor> inputs, outputs;
};

/// A result of a region: what the model calls it, and its sizes.
struct NamedOutput {
  std::string name;
  SymbolicShape dims;
};

/// The results of a padded run, in tensors that runs before have left. What the vendor gives is held against what a plan's sizes make of
/// it.
class PaddedOutputs final : public kit::RunOutputs {
 public:
  PaddedOutputs(std::vector<Tensor>& tensors, std::span<const NamedOutput> outputs, std::vector<Shape> shapes)
      : tensors_(tensors), outputs_(outputs), shapes_(std::move(shapes)), made_(outputs.size(), false) {}

  MutableView make(size_t index, const Shape& shape) override {
    if (index >= tensors_.size()) fail(ErrorCode::ep_fail, "the region has {} outputs, {} was given", tensors_.size(), index);
    if (!(shape == shapes_[index])) {
      fail(ErrorCode::ep_fail, "the compiled region gives '{}' the shape {}, expected {}", outputs_[index].name, shape.to_string(),
           shapes_[index].to_string());
    }
    made_[index] = true;
    Tensor& tensor = tensors_[index];
    if (tensor.dtype() != DType::float32 || tensor.shape() != shape) tensor = Tensor(DType::float32, shape);
    return MutableView(DType::float32, tensor.shape(), tensor.data<float>());
  }

  void check_all_made() const {
    const auto missing = std::ranges::find(made_, false);
    if (missing == made_.end()) return;
    fail(ErrorCode::ep_fail, "the compiled region did not give '{}'", outputs_[static_cast<size_t>(missing - made_.begin())].name);
  }

 private:
  std::vector<Tensor>& tensors_;
  std::span<const NamedOutput> outputs_;
  std::vector<Shape> shapes_;
  std::vector<bool> made_;
};

/// The program of a class, which does not change, and what its runs take turns with.
struct ClassPlan final : kit::Plan {
  ClassPlan(const std::shared_ptr<const Vendor>& vendor, OwnedProgram lowered, size_t inputs, size_t outputs)
      : size(vendor->save(lowered.program.get(), nullptr, 0)),
        executable(vendor, std::move(lowered)),
        leases(kLeases, [=] { return std::make_unique<Padded>(Padded{std::vector<Tensor>(inputs), std::vector<Tensor>(outputs)}); }) {}
  size_t bytes() const override { return size; }

  size_t size;
  SampleExecutable executable;
  mutable kit::LeasePool<Padded> leases;
};

class ClassExecutable final : public kit::Executable {
 public:
  ClassExecutable(std::shared_ptr<const Vendor> vendor, const kit::Region& region, kit::PlanSizes sizes, std::vector<NamedOutput> outputs)
      : sizes_(std::move(sizes)),
        outputs_(std::move(outputs)),
        plans_(kPlanBytes, [vendor = std::move(vendor), region](const kit::PlanClass&) {
          return std::make_shared<ClassPlan>(vendor, lower(*vendor, *region.graph, region.inputs, region.outputs), region.inputs.size(),
                                             region.outputs.size());
        }) {}

  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    const kit::PlanSizes::Found found = sizes_.find(inputs);
    const auto plan = std::static_pointer_cast<const ClassPlan>(plans_.get(found.plan));
    if (found.plan.is_exact) return plan->executable.run(inputs, outputs);
    const auto lease = plan->leases.take();
    std::vector<TensorView> padded;
    for (size_t i = 0; i < inputs.size(); ++i) padded.push_back(pad(inputs[i], *sizes_.inputs()[i], found.plan.sizes, lease->inputs[i]));
    std::vector<Shape> shapes;
    for (const NamedOutput& output : outputs_) shapes.push_back(*sizes_.shape(output.dims, found.plan.sizes));
    PaddedOutputs whole(lease->outputs, outputs_, std::move(shapes));
    plan->executable.run(padded, whole);
    whole.check_all_made();
    for (size_t i = 0; i < outputs_.size(); ++i) {
      kit::copy_common(lease->outputs[i].view(), outputs.make(i, *sizes_.shape(outputs_[i].dims, found.sizes)));
    }
  }

 private:
  // Values beyond the true sizes do not matter, but they are the same in each run.
  TensorView pad(const TensorView& input, const SymbolicShape& dims, const std::vector<int64_t>& sizes, Tensor& room) const {
    const Shape shape = *sizes_.shape(dims, sizes);
    if (shape == input.shape()) return input;
    if (room.dtype() != input.dtype() || room.shape() != shape) room = Tensor(input.dtype(), shape);
    std::fill_n(room.data<std::byte>(), room.bytes(), std::byte{0});
    kit::copy_common(input, MutableView(room.dtype(), room.shape(), room.data<std::byte>()));
    return room.view();
  }

  kit::PlanSizes sizes_;
  std::vector<NamedOutput> outputs_;
  mutable kit::PlanCache plans_;
};

}  // namespace

std::unique_ptr<kit::Executable> make_class_executable(std::shared_ptr<const Vendor> vendor, const kit::Region& region) {
  kit::PlanSizes::Dims inputs;
  for (ValueId id : region.inputs) {
    const TensorType& type = region.graph->value(id).type.tensor();
    if (!type.has_rank() || std::ranges::any_of(*type.dims, &Dim::is_unknown)) return nullptr;
    inputs.push_back(type.dims);
  }
  kit::PlanSizes sizes(std::move(inputs), FixedSymbols(*region.graph).take());
  std::vector<NamedOutput> outputs;
  const std::vector<int64_t> ones(sizes.symbols(), 1);
  for (ValueId id : region.outputs) {
    const TensorType& type = region.graph->value(id).type.tensor();
    if (!type.has_rank() || !sizes.shape(*type.dims, ones)) return nullptr;
    outputs.push_back({region.graph->value(id).name, *type.dims});
  }
  return std::make_unique<ClassExecutable>(std::move(vendor), region, std::move(sizes), std::move(outputs));
}

}  // namespace rh::sample
