#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstring>
#include <limits>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

#include "providers/openvino/requests.h"

namespace rh::openvino {

namespace {

constexpr size_t kAlignment = 64;  ///< of OpenVINO's bytes among those that are kept
constexpr size_t kMostRuns = 16;   ///< of one compiled model at once
constexpr std::chrono::milliseconds kLeastWatched{5};
constexpr size_t kMostStaticModels = 16;  ///< that are kept of a region with static shapes

/// A compiled model, its ports, and its requests.
struct Compiled {
  Compiled(Shared& shared, OwnedCompiled made, size_t inputs, size_t outputs)
      : model(std::move(made)), live(shared.live), requests(shared.runtime, *model, inputs, outputs, kMostRuns) {
    const Runtime& runtime = shared.runtime;
    const Api& api = runtime.api();
    size_t found_inputs = 0, found_outputs = 0;
    runtime.check(api.compiled_model_inputs_size(model.get(), &found_inputs), "inputs_size");
    runtime.check(api.compiled_model_outputs_size(model.get(), &found_outputs), "outputs_size");
    if (found_inputs != inputs || found_outputs != outputs) {
      fail(ErrorCode::ep_fail, "OpenVINO's model has {} inputs and {} outputs, expected {} and {}", found_inputs, found_outputs, inputs,
           outputs);
    }
    for (size_t i = 0; i < inputs; ++i) input_types.push_back(type_of(runtime, api.compiled_model_input_by_index, i));
    for (size_t i = 0; i < outputs; ++i) output_types.push_back(type_of(runtime, api.compiled_model_output_by_index, i));
    for (size_t i = 0; i < outputs; ++i) output_shapes.push_back(output_shape(runtime, i));
    live.add(model.get());
  }
  ~Compiled() { live.remove(model.get()); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  using GetPort = decltype(Api::compiled_model_input_by_index);
  using OwnedPort = std::unique_ptr<ConstPort, void (*)(ConstPort*)>;

  OwnedPort port(const Runtime& runtime, GetPort get, size_t index) const {
    ConstPort* port = nullptr;
    runtime.check(get(model.get(), index, &port), "port");
    return {port, runtime.api().output_const_port_free};
  }

  int type_of(const Runtime& runtime, GetPort get, size_t index) const {
    int type = 0;
    runtime.check(runtime.api().port_get_element_type(port(runtime, get, index).get(), &type), "port_get_element_type");
    return type;
  }

  /// Nothing where it is known in a run alone.
  std::optional<Shape> output_shape(const Runtime& runtime, size_t index) const {
    VendorShape given{};
    if (runtime.api().const_port_get_shape(port(runtime, runtime.api().compiled_model_output_by_index, index).get(), &given) != 0)
      return {};
    Shape shape(given.dims, given.dims + given.rank);
    runtime.api().shape_free(&given);
    return shape;
  }

  OwnedCompiled model;
  LiveModels& live;
  std::vector<int> input_types, output_types;  ///< OpenVINO's numbers, which differ between its versions
  std::vector<std::optional<Shape>> output_shapes;
  mutable Requests requests;
  mutable std::atomic<bool> has_failed = false;   ///< then it is not used again
  mutable std::atomic<bool> is_unusable = false;  ///< it failed without a message: no run is right after that
  mutable std::atomic<std::chrono::steady_clock::duration> last_run = std::chrono::steady_clock::duration::max();
};

class OpenVinoExecutable final : public kit::Executable {
 public:
  OpenVinoExecutable(std::shared_ptr<Shared> shared, const kit::Region& region) : OpenVinoExecutable(region, std::move(shared)) {
    source_ = source_of(region, shared_->runtime.reads_in_place());
    const bool is_dynamic = std::ranges::any_of(inputs_, [](const TensorType& type) { return !is_static(type); });
    if (shared_->settings.static_shapes && is_dynamic) {
      per_shape_ = std::make_unique<PerShape>();
    } else {
      compiled_ = compile_now(nullptr);
    }
  }

  OpenVinoExecutable(std::shared_ptr<Shared> shared, const kit::Region& region, const kit::OwnedBytes& bytes)
      : OpenVinoExecutable(region, std::move(shared)) {
    imported_ = {take_head(bytes.view), bytes.owner};
    compiled_ = checked(import_model(shared_->runtime, imported_->view, shared_->settings));
  }

  std::string save() const {
    if (per_shape_) fail(ErrorCode::not_implemented, "sizes are open that this device compiles when a run brings them");
    return export_model(shared_->runtime, *compiled_->model, head());
  }

  void run(std::span<const TensorView> inputs, kit::RunOutputs& outputs) const override {
    const std::shared_ptr<const Compiled> compiled = per_shape_ ? for_shapes(inputs) : current();
    Requests::Lease lease = compiled->requests.take();
    try {
      run(*compiled, *lease, inputs, outputs);
    } catch (...) {
      lease.drop();
      throw;
    }
  }

 private:
  OpenVinoExecutable(const kit::Region& region, std::shared_ptr<Shared> shared)
      : shared_(std::move(shared)),
        names_(names_of(region)),
        inputs_(types_of(*region.graph, region.inputs)),
        outputs_(types_of(*region.graph, region.outputs)) {
    for (ValueId id : region.inputs) has_numbers_.push_back(has_numbers(*region.graph, id));
  }

  /// Models for the sizes that came, the latest first.
  struct PerShape {
    std::mutex mutex;
    std::list<std::pair<std::vector<Shape>, std::shared_ptr<const Compiled>>> models;
  };

  /// Whether integers of 64 bits count as such: the largest one as the end of a slice stands for all that there is.
  static bool has_numbers(const Graph& graph, ValueId id) {
    const GraphValue& value = graph.value(id);
    return std::ranges::any_of(value.consumers, [&](NodeId consumer) {
      const Node& node = graph.node(consumer);
      return node.op_type != "Slice" || node.inputs[0] == id;
    });
  }

  /// OpenVINO has integers of 32 bits alone, and says nothing of others.
  void check_numbers(size_t i, const TensorView& input) const {
    const auto check = [&](const auto* data, int64_t least) {
      const size_t count = static_cast<size_t>(input.elements());
      for (size_t at = 0; at < count; ++at) {
        if (std::cmp_greater_equal(data[at], least) && std::cmp_less_equal(data[at], std::numeric_limits<int32_t>::max())) continue;
        fail(ErrorCode::ep_fail, "input '{}' has {}, and OpenVINO has integers of 32 bits alone: leave this model to the CPU", names_[i],
             data[at]);
      }
    };
    if (input.dtype() == DType::int64) check(static_cast<const int64_t*>(input.raw()), std::numeric_limits<int32_t>::min());
    if (input.dtype() == DType::uint64) check(static_cast<const uint64_t*>(input.raw()), 0);
  }

  static bool is_static(const TensorType& type) {
    return type.has_rank() && std::ranges::all_of(*type.dims, [](const Dim& dim) { return dim.is_constant(); });
  }

  static std::vector<TensorType> types_of(const Graph& graph, const std::vector<ValueId>& values) {
    std::vector<TensorType> types;
    for (ValueId id : values) types.push_back(graph.value(id).type.tensor());
    return types;
  }

  static std::vector<std::string> names_of(const kit::Region& region) {
    std::vector<std::string> names;
    for (ValueId id : region.inputs) names.push_back(region.graph->value(id).name);
    return names;
  }

  /// The session's precision, which compiled bytes keep whatever is set when they are imported.
  std::string precision() const {
    for (const auto& [name, value] : shared_->settings.properties) {
      if (name == "INFERENCE_PRECISION_HINT" || name == "EXECUTION_MODE_HINT") return fmt::format("{}={}", name, value);
    }
    return "the device's own precision";
  }

  /// Which inputs the model has, and its precision, as text before OpenVINO's bytes, which keep their alignment.
  std::string head() const {
    std::string text;
    for (size_t i : source_.inputs) text += fmt::format("{} ", i);
    text += precision();
    text.resize((text.size() / kAlignment + 1) * kAlignment, ' ');
    text.back() = '\n';
    return text;
  }
  std::string_view take_head(std::string_view bytes) {
    const size_t end = bytes.find('\n');
    std::string_view text = bytes.substr(0, end);
    while (!text.empty()) {
      size_t index = inputs_.size();
      std::from_chars(text.data(), text.data() + text.size(), index);
      if (const size_t blank = text.find(' '); index < inputs_.size() && blank != text.npos) {
        source_.inputs.push_back(index);
        text.remove_prefix(blank + 1);
      } else {
        break;
      }
    }
    if (end == bytes.npos) fail(ErrorCode::ep_fail, "what is to be imported does not say which inputs it has");
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    if (text != precision()) {
      fail(ErrorCode::requires_compilation,
           "it was compiled with {}, and the session's options mean {}: compile the model anew, or set "
           "precision as it was",
           text, precision());
    }
    return bytes.substr(end + 1);
  }

  std::shared_ptr<const Compiled> compile_now(const std::vector<Shape>* shapes) const {
    return checked(compile(shared_->runtime, source_, shared_->settings, names_, shapes));
  }

  /// After a failure OpenVINO takes sizes for right that it has not checked: then the model is compiled anew.
  std::shared_ptr<const Compiled> current() const {
    const std::lock_guard lock(mutex_);
    if (compiled_->is_unusable) {
      fail(ErrorCode::ep_fail,
           "OpenVINO's inference failed before without a message, and keeps wrong sizes since: make the session anew, or with "
           "intra_op_num_threads of 2");
    }
    if (compiled_->has_failed) {
      compiled_ = imported_ ? checked(import_model(shared_->runtime, imported_->view, shared_->settings)) : compile_now(nullptr);
    }
    return compiled_;
  }

  std::shared_ptr<const Compiled> checked(OwnedCompiled model) const {
    auto compiled = std::make_shared<const Compiled>(*shared_, std::move(model), source_.inputs.size(), outputs_.size());
    for (size_t i = 0; i < outputs_.size(); ++i) check_shape(i, compiled->output_shapes[i]);
    return compiled;
  }

  /// OpenVINO's word on the shape of an output against the model's.
  void check_shape(size_t index, const std::optional<Shape>& given) const {
    if (!given || !outputs_[index].has_rank()) return;
    const SymbolicShape& dims = *outputs_[index].dims;
    bool same = dims.size() == given->size();
    for (size_t i = 0; same && i < dims.size(); ++i) same = !dims[i].is_constant() || dims[i].value() == (*given)[i];
    if (!same) fail(ErrorCode::ep_fail, "OpenVINO gives the shape {}, expected {}", given->to_string(), to_string(dims));
  }

  std::shared_ptr<const Compiled> for_shapes(std::span<const TensorView> inputs) const {
    std::vector<Shape> shapes(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) shapes[i] = inputs[i].shape();
    const std::lock_guard lock(per_shape_->mutex);
    auto& models = per_shape_->models;
    const auto at = std::ranges::find(models, shapes, [](const auto& entry) { return entry.first; });
    if (at != models.end()) {
      models.splice(models.begin(), models, at);
    } else {
      models.emplace_front(shapes, compile_now(&shapes));
      if (models.size() > kMostStaticModels) models.pop_back();
    }
    return models.front().second;
  }

  void run(const Compiled& compiled, Request& request, std::span<const TensorView> inputs, kit::RunOutputs& outputs) const {
    for (size_t i = 0; i < source_.inputs.size(); ++i) {
      const TensorView& input = inputs[source_.inputs[i]];
      if (has_numbers_[source_.inputs[i]]) check_numbers(source_.inputs[i], input);
      request.bind_input(i, compiled.input_types[i], input.shape(), input.raw());
    }
    std::vector<bool> is_bound(outputs_.size(), false);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const std::optional<Shape>& fixed = compiled.output_shapes[i];
      const std::optional<Shape> shape = fixed ? fixed : expected_shape(outputs_[i], inputs);
      if (!shape) continue;
      const MutableView into = outputs.make(i, *shape);
      request.bind_output(i, compiled.output_types[i], *shape, into.raw(), into.bytes());
      is_bound[i] = true;
    }
    infer_checked(compiled, request, outputs);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (is_bound[i]) {
        if (!compiled.output_shapes[i]) request.finish_output(i);
        continue;
      }
      const auto [shape, data] = request.output(i);
      const MutableView into = outputs.make(i, shape);
      if (into.bytes() > 0) std::memcpy(into.raw(), data, into.bytes());
    }
  }

  static void infer_checked(const Compiled& compiled, Request& request, const kit::RunOutputs& outputs) {
    request.mark_outputs();
    infer(compiled, request, outputs);
    const std::optional<size_t> marked = request.marked_output();
    if (!marked) return;
    compiled.is_unusable = true;
    fail(ErrorCode::ep_fail,
         "OpenVINO's inference leaves output {} unwritten and gives no message, as it does with one thread where it fails; with "
         "intra_op_num_threads of 2 it may say why",
         *marked);
  }

  /// To be watched takes a tenth of a millisecond: runs after a short one are not, and cannot be stopped within OpenVINO.
  static void infer(const Compiled& compiled, Request& request, const kit::RunOutputs& outputs) {
    using Clock = std::chrono::steady_clock;
    const bool is_watched = outputs.state() != RhRunState_ENDLESS && compiled.last_run.load(std::memory_order_relaxed) >= kLeastWatched;
    const Clock::time_point begin = Clock::now();
    try {
      if (is_watched) {
        request.infer_watched(outputs);
      } else {
        request.infer();
      }
    } catch (...) {
      compiled.has_failed = outputs.state() != RhRunState_IS_STOPPED;
      throw;
    }
    compiled.last_run.store(Clock::now() - begin, std::memory_order_relaxed);
  }

  /// The shape of an output where its type tells it from the sizes of the inputs, so that OpenVINO writes in the host's memory.
  std::optional<Shape> expected_shape(const TensorType& type, std::span<const TensorView> inputs) const {
    if (!type.has_rank()) return std::nullopt;
    Shape shape;
    for (const Dim& dim : *type.dims) {
      const auto size = dim.evaluate([&](std::string_view symbol) { return size_of(symbol, inputs); });
      if (!size || *size < 0) return std::nullopt;
      shape.push_back(*size);
    }
    return shape;
  }

  std::optional<int64_t> size_of(std::string_view symbol, std::span<const TensorView> inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs_[i].has_rank()) continue;
      for (int axis = 0; axis < inputs_[i].rank() && axis < inputs[i].rank(); ++axis) {
        if ((*inputs_[i].dims)[static_cast<size_t>(axis)].symbol_name() == symbol) return inputs[i].shape()[static_cast<size_t>(axis)];
      }
    }
    return std::nullopt;
  }

  std::shared_ptr<Shared> shared_;
  Source source_;
  std::optional<kit::OwnedBytes> imported_;           ///< what OpenVINO reads weights in
  std::vector<std::string> names_;                    ///< of the region's inputs
  std::vector<TensorType> inputs_, outputs_;          ///< of the region
  std::vector<bool> has_numbers_;                     ///< which inputs are checked for those beyond 32 bits
  mutable std::mutex mutex_;                          ///< of the next
  mutable std::shared_ptr<const Compiled> compiled_;  // after what it refers to
  std::unique_ptr<PerShape> per_shape_;
};

}  // namespace

std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<Shared> shared, const kit::Region& region) {
  return std::make_unique<OpenVinoExecutable>(std::move(shared), region);
}

std::unique_ptr<kit::Executable> load_executable(std::shared_ptr<Shared> shared, const kit::Region& region, const kit::OwnedBytes& bytes) {
  return std::make_unique<OpenVinoExecutable>(std::move(shared), region, bytes);
}

std::string save_executable(const kit::Executable& executable) { return static_cast<const OpenVinoExecutable&>(executable).save(); }

}  // namespace rh::openvino
