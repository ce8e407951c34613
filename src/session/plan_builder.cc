#include "session/plan_builder.h"

#include <algorithm>

#include "base/file.h"
#include "base/shared_bytes.h"
#include "session/context_model.h"
#include "session/copy_kernel.h"
#include "session/fetch_ahead.h"
#include "session/memory_forecast.h"
#include "session/subgraph_types.h"
#include "session/value_parts.h"
#include "session/value_types.h"

namespace rh {

namespace {

/// Builds the plan of one graph, and those of its subgraphs by builders of their own.
class PlanBuilder {
 public:
  PlanBuilder(Graph& graph, Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers, const PlanOptions& options)
      : graph_(graph), assignment_(assignment), providers_(providers), options_(options) {}

  std::unique_ptr<Plan> build() {
    plan_->graph = &graph_;
    plan_->providers.assign(providers_.begin(), providers_.end());
    plan_->bindings.set_max_buffer_bytes(options_.max_tensor_bytes);
    slot_of_.assign(static_cast<size_t>(graph_.value_count()), kNoSlot);
    order_ = graph_.topological_order();
    charge_initializers();
    make_kernels();
    add_inputs();
    add_outputs();
    add_host_outputs();
    add_symbols();
    add_steps();
    add_fetches(*plan_, packed_);
    count_uses();
    add_output_sizes();
    lay_out();
    return std::move(plan_);
  }

 private:
  // --- kernels and constants

  void charge_initializers() {
    if (!options_.account) return;
    size_t bytes = 0;
    for (ValueId id = 0; id < graph_.value_count(); ++id) bytes += initializer_bytes(id);
    charge(bytes);
  }

  size_t initializer_bytes(ValueId id) const {
    const Value& initializer = graph_.value(id).initializer;
    return initializer.is_tensor() ? initializer.tensor().bytes() : 0;
  }

  void charge(size_t bytes) {
    if (!options_.account) return;
    try {
      options_.account->charge(MemoryUse::weights, bytes);
    } catch (const OverBudget& error) {
      std::vector<TensorMemory> weights;
      for (ValueId id = 0; id < graph_.value_count(); ++id) {
        if (const size_t size = initializer_bytes(id)) weights.push_back({graph_.value(id).name, {}, size});
      }
      for (size_t k = 0; k < plan_->kernels.size(); ++k) {
        if (const size_t size = plan_->kernels[k]->packed_bytes())
          weights.push_back({"packed", graph_.node(order_[k]).display_name(), size});
      }
      sort_by_size(weights);
      fail(error.code(), "loading the model: {}; the largest weights: {}; raise the budget, or take a smaller model", error.what(),
           list_largest(weights));
    }
  }

  void make_kernels() {
    count_constant_uses();
    for (NodeId id : order_) {
      if (options_.cancel && options_.cancel->load(std::memory_order_relaxed)) {
        fail(ErrorCode::load_canceled, "the load was canceled before node '{}'", graph_.node(id).display_name());
      }
      const Node& node = graph_.node(id);
      NodeAssignment& assigned = assignment_.of(graph_, id);
      Provider& provider = *providers_[static_cast<size_t>(assigned.provider)];
      if (assigned.unit) {
        plan_->kernels.push_back(std::move(assigned.compiled));
        plan_->units.push_back(assigned.unit);
      } else if (assigned.copy) {
        plan_->kernels.push_back(make_copy_kernel(providers_, assigned.copy->first, assigned.copy->second));
      } else {
        plan_->kernels.push_back(provider.make_kernel(graph_, node, options_.kernels));
      }
      packed_.push_back(PackingScope::take_shared());
      if (plan_->kernels.back()->fetches_ahead()) PackingScope::use_pages();
      charge(plan_->kernels.back()->packed_bytes());
      drop_owned_constants(node, *plan_->kernels.back());
    }
  }

  void count_constant_uses() {
    constant_uses_.assign(static_cast<size_t>(graph_.value_count()), 0);
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      const GraphValue& value = graph_.value(id);
      if (value.is_constant()) constant_uses_[static_cast<size_t>(id)] = static_cast<int32_t>(value.consumers.size()) + value.is_output;
    }
  }

  // A constant whose every use is packed elsewhere goes at once: at no time are all weights there twice.
  void drop_owned_constants(const Node& node, const Kernel& kernel) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      if (id == kNoValue || !graph_.value(id).is_constant() || !kernel.owns_constant(static_cast<int>(i))) continue;
      if (--constant_uses_[static_cast<size_t>(id)] != 0) continue;
      if (const Tensor* packed = graph_.value(id).constant_tensor()) {
        forget_mapped_pages(packed->raw(), packed->bytes());
        if (options_.account) options_.account->credit(MemoryUse::weights, packed->bytes());
      }
      graph_.set_initializer(id, Value());
    }
  }

  // --- slots

  int32_t add_slot(ValueId id, Slot::Kind kind, int32_t index = -1) {
    const int32_t slot = static_cast<int32_t>(plan_->slots.size());
    plan_->slots.push_back({.kind = kind, .root = slot, .home = slot, .index = index, .value = id});
    plan_->slots.back().place = place_of(assignment_.location(graph_, id));
    plan_->defaults.push_back(nullptr);
    slot_of_[static_cast<size_t>(id)] = slot;
    return slot;
  }

  int32_t place_of(Device device) {
    auto& places = plan_->places;
    const auto at = std::ranges::find(places, device, &Place::device);
    if (at != places.end()) return static_cast<int32_t>(at - places.begin());
    places.push_back({device, providers_[static_cast<size_t>(find_owner(providers_, device))]});
    return static_cast<int32_t>(places.size()) - 1;
  }

  bool on_host(int32_t slot) const { return plan_->slots[static_cast<size_t>(slot)].place == 0; }

  int32_t stream_of(int provider) const { return providers_[static_cast<size_t>(provider)]->device().is_host() ? kHostStream : provider; }

  void take_constant(int32_t slot) {
    const ValueId id = plan_->slots[static_cast<size_t>(slot)].value;
    plan_->constants.push_back(graph_.value(id).initializer);
    plan_->defaults[static_cast<size_t>(slot)] = &plan_->constants.back();
  }

  void add_inputs() {
    for (ValueId id : graph_.inputs()) {
      const int32_t index = static_cast<int32_t>(plan_->inputs.size());
      plan_->inputs.push_back(add_slot(id, Slot::Kind::input, index));
      if (!graph_.value(id).initializer.empty()) take_constant(plan_->inputs.back());
    }
    plan_->graph_inputs = static_cast<int32_t>(plan_->inputs.size());
    for (ValueId id = 0; id < graph_.value_count(); ++id) {
      const GraphValue& value = graph_.value(id);
      if (value.outer == kNoValue || value.is_constant()) continue;
      const int32_t index = static_cast<int32_t>(plan_->inputs.size());
      plan_->inputs.push_back(add_slot(id, Slot::Kind::input, index));
      captured_values_.push_back(value.outer);
    }
  }

  void add_outputs() {
    for (ValueId id : graph_.outputs()) {
      int32_t slot = slot_of_[static_cast<size_t>(id)];
      if (slot == kNoSlot) {
        const bool constant = graph_.value(id).is_constant();
        slot = add_slot(id, constant ? Slot::Kind::constant : Slot::Kind::output, static_cast<int32_t>(plan_->outputs.size()));
        if (constant) take_constant(slot);
      }
      plan_->outputs.push_back(slot);
    }
  }

  // A copy on the host that steps need anyway is the caller's where he wants the output there.
  void add_host_outputs() {
    plan_->host_outputs.assign(plan_->outputs.size(), kNoSlot);
    for (NodeId id : order_) {
      const auto& copy = assignment_.of(graph_, id).copy;
      if (!copy || !copy->second.is_host()) continue;
      const Node& node = graph_.node(id);
      const int32_t from = slot_of_[static_cast<size_t>(node.inputs[0])];
      if (from == kNoSlot || plan_->slots[static_cast<size_t>(from)].kind != Slot::Kind::output) continue;
      const int32_t index = plan_->slots[static_cast<size_t>(from)].index;
      plan_->host_outputs[static_cast<size_t>(index)] = add_slot(node.outputs[0], Slot::Kind::output, index);
    }
  }

  // Plain symbols in the shapes of inputs can be read when a run begins.
  void add_symbols() {
    for (size_t i = 0; i < plan_->inputs.size(); ++i) {
      const ValueType& type = graph_.value(plan_->slots[static_cast<size_t>(plan_->inputs[i])].value).type;
      if (!type.is_tensor() || !type.tensor().has_rank()) continue;
      const SymbolicShape& dims = *type.tensor().dims;
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        const std::string_view name = dims[axis].symbol_name();
        if (name.empty()) continue;
        plan_->symbol_sources.push_back({plan_->sizes.add_symbol(name), static_cast<int32_t>(i), static_cast<int32_t>(axis)});
      }
    }
  }

  // --- steps

  int32_t slot_for_input(ValueId id) {
    if (id == kNoValue) return kNoSlot;
    int32_t slot = slot_of_[static_cast<size_t>(id)];
    if (slot == kNoSlot && graph_.value(id).is_constant()) {
      slot = add_slot(id, Slot::Kind::constant);
      take_constant(slot);
    }
    return slot;
  }

  void add_steps() {
    plan_->outputs_wanted.reset(new bool[count_outputs() + 1]());
    for (size_t s = 0; s < order_.size(); ++s) {
      const Node& node = graph_.node(order_[s]);
      Step step;
      step.kernel = plan_->kernels[s].get();
      step.node = &node;
      const NodeAssignment& assigned = assignment_.of(graph_, order_[s]);
      step.provider = providers_[static_cast<size_t>(assigned.provider)]->name();
      // Subgraphs are run by the host, whose nodes submit what they do themselves.
      step.stream = has_subgraphs(node) ? kHostStream : stream_of(assigned.provider);
      step.copies = assigned.copy.has_value();
      plan_->uses_streams = plan_->uses_streams || stream_of(assigned.provider) != kHostStream;
      if (assigned.copy && !assigned.copy->first.is_host() && !assigned.copy->second.is_host()) {
        step.copy_into = stream_of(find_owner(providers_, assigned.copy->second));
      }
      step.first_input = static_cast<int32_t>(plan_->step_inputs.size());
      step.input_count = static_cast<int32_t>(node.inputs.size());
      step.first_output = static_cast<int32_t>(plan_->step_outputs.size());
      step.output_count = static_cast<int32_t>(node.outputs.size());
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const bool packed = step.kernel->owns_constant(static_cast<int>(i)) && is_or_was_constant(node.inputs[i]);
        plan_->step_inputs.push_back(packed ? kNoSlot : slot_for_input(node.inputs[i]));
      }
      // A provider gives all that it compiled, even what passes that ran later left no use for; kernels ask about all but their first.
      for (size_t i = 0; i < node.outputs.size(); ++i) add_output(node.outputs[i], i == 0 || assigned.unit);
      add_subplans(node, step);
      const auto known = [&](ValueId id) { return id == kNoValue || is_known(graph_.value(id).type); };
      if (!std::ranges::all_of(node.inputs, known)) step.late_types = plan_->late_typed_steps++;
      plan_->steps.push_back(step);
    }
    plan_->input_positions.resize(plan_->inputs.size());
    for (size_t i = 0; i < plan_->step_inputs.size(); ++i) {
      const int32_t slot = plan_->step_inputs[i];
      if (slot != kNoSlot && plan_->slots[static_cast<size_t>(slot)].kind == Slot::Kind::input) {
        plan_->input_positions[static_cast<size_t>(plan_->slots[static_cast<size_t>(slot)].index)].push_back(static_cast<int32_t>(i));
      }
    }
  }

  static bool has_subgraphs(const Node& node) {
    return std::ranges::any_of(node.attributes, [](const Attribute& a) { return a.get<std::shared_ptr<Graph>>() != nullptr; });
  }

  size_t count_outputs() const {
    size_t count = 0;
    for (NodeId id : order_) count += graph_.node(id).outputs.size();
    return count;
  }

  // Nothing gives a value without producer that is neither input nor captured: it was a constant.
  bool is_or_was_constant(ValueId id) const {
    if (id == kNoValue) return false;
    const GraphValue& value = graph_.value(id);
    return value.producer == kNoNode && !value.is_input && slot_kind(id) != Slot::Kind::input;
  }

  Slot::Kind slot_kind(ValueId id) const {
    const int32_t slot = slot_of_[static_cast<size_t>(id)];
    return slot == kNoSlot ? Slot::Kind::late : plan_->slots[static_cast<size_t>(slot)].kind;
  }

  void add_output(ValueId id, bool is_given) {
    const size_t flat = plan_->step_outputs.size();
    DType dtype = DType::undefined;
    int32_t slot = kNoSlot;
    if (id != kNoValue) {
      const GraphValue& value = graph_.value(id);
      slot = slot_of_[static_cast<size_t>(id)];
      if (slot == kNoSlot) slot = add_slot(id, Slot::Kind::late);
      if (value.type.is_tensor()) dtype = value.type.tensor().dtype;
      plan_->outputs_wanted[flat] = is_given || value.is_output || !value.consumers.empty();
    }
    plan_->step_outputs.push_back(slot);
    plan_->output_dtypes.push_back(dtype);
    plan_->output_aliases.emplace_back();
  }

  void add_subplans(const Node& node, Step& step) {
    step.first_subplan = static_cast<int32_t>(plan_->subplans.size());
    std::vector<const Attribute*> attributes;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.get<std::shared_ptr<Graph>>()) attributes.push_back(&attribute);
    }
    std::sort(attributes.begin(), attributes.end(), [](const Attribute* a, const Attribute* b) { return a->name < b->name; });
    for (const Attribute* attribute : attributes) {
      Graph& subgraph = **attribute->get<std::shared_ptr<Graph>>();
      PlanBuilder builder(subgraph, assignment_, providers_, options_);
      auto subplan = builder.build();
      for (ValueId outer : builder.captured_values_) subplan->captured.push_back(slot_for_input(outer));
      plan_->subplans.push_back(std::move(subplan));
    }
  }

  // --- lifetimes and memory

  void count_uses() {
    uses_.assign(plan_->slots.size(), 0);
    for (int32_t slot : plan_->step_inputs) {
      if (slot != kNoSlot) ++uses_[static_cast<size_t>(slot)];
    }
    for (const auto& subplan : plan_->subplans) {
      for (int32_t slot : subplan->captured) ++uses_[static_cast<size_t>(slot)];
    }
    for (int32_t slot : plan_->outputs) ++uses_[static_cast<size_t>(slot)];
    for (int32_t slot : plan_->host_outputs) {
      if (slot != kNoSlot) ++uses_[static_cast<size_t>(slot)];
    }
    members_.resize(plan_->slots.size());
  }

  Slot& slot_at(int32_t slot) { return plan_->slots[static_cast<size_t>(slot)]; }
  Slot& root_of(int32_t slot) { return slot_at(slot_at(slot).root); }
  Slot& home_of(int32_t slot) { return slot_at(slot_at(slot).home); }

  std::vector<int32_t> slots_read_by(const Step& step, size_t s) const {
    std::vector<int32_t> slots;
    for (int32_t i = 0; i < step.input_count; ++i) {
      const int32_t slot = plan_->step_inputs[static_cast<size_t>(step.first_input + i)];
      if (slot != kNoSlot) slots.push_back(slot);
    }
    const int32_t end = s + 1 < plan_->steps.size() ? plan_->steps[s + 1].first_subplan : static_cast<int32_t>(plan_->subplans.size());
    for (int32_t k = step.first_subplan; k < end; ++k) {
      const auto& captured = plan_->subplans[static_cast<size_t>(k)]->captured;
      slots.insert(slots.end(), captured.begin(), captured.end());
    }
    return slots;
  }

  void add_output_sizes() {
    for (size_t k = 0; k < plan_->outputs.size(); ++k) {
      const Slot& slot = plan_->slots[static_cast<size_t>(plan_->outputs[k])];
      const bool made = slot.kind == Slot::Kind::output && slot.index == static_cast<int32_t>(k);
      plan_->output_sizes.push_back(buffer_size(plan_->outputs[k]).value_or(BufferSize{SizeProgram::kNone, made ? -1 : 0, 8}));
      if (!made) plan_->output_sizes.back() = {};
    }
  }

  // Which values lie inside others.
  void place_parts(const std::vector<std::vector<int32_t>>& reads) {
    parts_.views.assign(plan_->step_outputs.size(), false);
    if (!options_.parts_in_place || plan_->uses_streams) return;
    parts_ = find_value_parts(*plan_, reads, [&](int32_t slot) { return buffer_size(slot); });
    for (size_t s = 0; s < parts_.places.size(); ++s) {
      const ValueParts::Place& place = parts_.places[s];
      if (place.root == kNoSlot) continue;
      const int32_t slot = static_cast<int32_t>(s);
      reserve(place.root);
      reserve(slot);
      const BufferSize size = plan_->buffers[static_cast<size_t>(slot_at(slot).buffer)];
      BufferSize offset{SizeProgram::kNone, 0, size.bits};
      if (place.offset.is_constant()) {
        offset.constant = place.offset.value();
      } else {
        offset.elements = plan_->sizes.add(place.offset);
        if (offset.elements == SizeProgram::kNone) offset.constant = -1;
      }
      slot_at(slot).part = static_cast<int32_t>(plan_->parts.size());
      plan_->parts.push_back({offset, size});
      slot_at(slot).root = place.root;
      uses_[static_cast<size_t>(place.root)] += uses_[s];
    }
  }

  void keep_to_the_end(Schedule& schedule) const {
    if (schedule.steps.empty()) return;
    for (int32_t buffer = 0; buffer < static_cast<int32_t>(plan_->buffers.size()); ++buffer) schedule.steps.back().reads.push_back(buffer);
  }

  // One pass over the steps: which outputs share memory with which inputs, who dies where, and what the planner has to place.
  void lay_out() {
    std::vector<std::vector<int32_t>> reads;
    for (size_t s = 0; s < plan_->steps.size(); ++s) reads.push_back(slots_read_by(plan_->steps[s], s));
    place_parts(reads);
    Schedule schedule;
    schedule.steps.resize(plan_->steps.size());
    schedule.streams = 1 + static_cast<int32_t>(plan_->uses_streams ? providers_.size() : 0);
    Schedule in_place = schedule;
    made_by_.assign(plan_->slots.size(), -1);
    used_by_streams_.assign(plan_->slots.size(), false);
    for (size_t s = 0; s < plan_->steps.size(); ++s) {
      Step& step = plan_->steps[s];
      const std::vector<int32_t>& read = reads[s];
      add_waits(s, read, schedule);
      for (int32_t slot : read) {
        --uses_[static_cast<size_t>(plan_->slots[static_cast<size_t>(slot)].root)];
        if (home_of(slot).buffer >= 0) schedule.steps[s].reads.push_back(home_of(slot).buffer);
        if (root_of(slot).buffer >= 0) in_place.steps[s].reads.push_back(root_of(slot).buffer);
      }
      for (int32_t o = 0; o < step.output_count; ++o) {
        const int32_t slot = plan_->step_outputs[static_cast<size_t>(step.first_output + o)];
        if (slot == kNoSlot) continue;
        made_by_[static_cast<size_t>(slot)] = static_cast<int32_t>(s);
        if (!share_memory(step, o, slot, read)) choose_place(slot);
        if (step.stream != kHostStream) used_by_streams_[static_cast<size_t>(plan_->slots[static_cast<size_t>(slot)].root)] = true;
        if (home_of(slot).buffer >= 0) schedule.steps[s].writes.push_back(home_of(slot).buffer);
        if (root_of(slot).buffer >= 0) in_place.steps[s].writes.push_back(root_of(slot).buffer);
      }
      add_releases(step, read);
    }
    schedule.buffers = static_cast<int32_t>(plan_->buffers.size());
    if (!options_.reuse_memory) keep_to_the_end(schedule);
    if (!options_.reuse_memory) keep_to_the_end(in_place);
    plan_->planner = MemoryPlanner(schedule);
    if (!parts_.any) return;
    in_place.buffers = schedule.buffers;
    plan_->in_place_planner = MemoryPlanner(in_place);
    plan_->bindings.set_parts(plan_->in_place_planner, parts_.units, options_.kernels.lean_memory);
  }

  // What a step reads must be done, unless its own stream did it before. Work of streams begins after all that the host did before it.
  void add_waits(size_t s, const std::vector<int32_t>& read, Schedule& schedule) {
    Step& step = plan_->steps[s];
    schedule.steps[s].stream = step.stream + 1;
    step.first_wait = static_cast<int32_t>(plan_->waits.size());
    for (int32_t slot : read) {
      if (step.stream != kHostStream) used_by_streams_[static_cast<size_t>(plan_->slots[static_cast<size_t>(slot)].root)] = true;
      const int32_t maker = made_by_[static_cast<size_t>(slot)];
      if (maker < 0) continue;
      Step& source = plan_->steps[static_cast<size_t>(maker)];
      const bool reads_devices = has_subgraphs(*step.node) && stream_of(assignment_.of(graph_, order_[s]).provider) != kHostStream;
      if (source.stream == step.stream || source.stream == kHostStream) continue;
      if (step.stream == kHostStream && !on_host(slot) && !reads_devices) continue;
      const auto begin = plan_->waits.begin() + step.first_wait;
      if (std::find(begin, plan_->waits.end(), maker) != plan_->waits.end()) continue;
      source.signals = true;
      plan_->waits.push_back(maker);
    }
    step.wait_count = static_cast<int32_t>(plan_->waits.size()) - step.first_wait;
    auto& waits = schedule.steps[s].waits;
    waits.assign(plan_->waits.begin() + step.first_wait, plan_->waits.end());
    if (step.stream != kHostStream && last_host_step_ >= 0) waits.push_back(last_host_step_);
    if (step.stream == kHostStream) last_host_step_ = static_cast<int32_t>(s);
  }

  bool share_memory(const Step& step, int32_t output, int32_t slot, const std::vector<int32_t>& read) {
    if (slot_at(slot).kind == Slot::Kind::output || slot_at(slot).buffer >= 0) return false;
    const size_t flat = static_cast<size_t>(step.first_output + output);
    for (const Alias& alias : step.kernel->aliases()) {
      if (alias.output != output || alias.input >= step.input_count) continue;
      const int32_t input = plan_->step_inputs[static_cast<size_t>(step.first_input + alias.input)];
      if (input == kNoSlot) continue;
      if (alias.kind == Alias::Kind::part ? !parts_.views[flat] : alias.kind == Alias::Kind::in_place && !may_overwrite(input, slot, read))
        continue;
      join(slot, input);
      plan_->output_aliases[flat] = {kind_of(alias), alias.input};
      if (alias.kind == Alias::Kind::part) {
        slot_at(slot).home = slot;
        reserve(slot);
      }
      return true;
    }
    return false;
  }

  static OutputAlias::Kind kind_of(const Alias& alias) {
    switch (alias.kind) {
      case Alias::Kind::in_place: return OutputAlias::Kind::in_place;
      case Alias::Kind::view: return OutputAlias::Kind::view;
      case Alias::Kind::part: return OutputAlias::Kind::part;
    }
    return OutputAlias::Kind::none;
  }

  void join(int32_t slot, int32_t input) {
    Slot& target = plan_->slots[static_cast<size_t>(slot)];
    target.root = plan_->slots[static_cast<size_t>(input)].root;
    target.home = plan_->slots[static_cast<size_t>(input)].home;
    target.kind = root_of(slot).kind;
    uses_[static_cast<size_t>(target.root)] += uses_[static_cast<size_t>(slot)];
    members_[static_cast<size_t>(target.root)].push_back(slot);
  }

  // The input dies here, stands once among what the step reads, is intermediate, lies inside no other value, and has as many bytes.
  bool may_overwrite(int32_t input, int32_t slot, const std::vector<int32_t>& read) {
    const int32_t root = plan_->slots[static_cast<size_t>(input)].root;
    const Slot::Kind kind = plan_->slots[static_cast<size_t>(root)].kind;
    if (slot_at(input).home != root) return false;
    if (used_by_streams_[static_cast<size_t>(root)] && on_host(root)) return false;
    if (plan_->slots[static_cast<size_t>(root)].place != plan_->slots[static_cast<size_t>(slot)].place) return false;
    if ((kind != Slot::Kind::planned && kind != Slot::Kind::late) || uses_[static_cast<size_t>(root)] != 0) return false;
    const auto same_root = [&](int32_t other) { return plan_->slots[static_cast<size_t>(other)].root == root; };
    if (std::count_if(read.begin(), read.end(), same_root) != 1) return false;
    const ValueType& from = type_of(input);
    const ValueType& to = type_of(slot);
    if (!from.is_tensor() || !to.is_tensor() || from.tensor().dtype == DType::string || to.tensor().dtype == DType::string) return false;
    if (kind == Slot::Kind::late) return buffer_size(slot) == std::nullopt;
    const auto size = buffer_size(slot);
    const BufferSize& have = plan_->buffers[static_cast<size_t>(plan_->slots[static_cast<size_t>(root)].buffer)];
    return size && size->elements == have.elements && size->constant == have.constant && size->bits == have.bits;
  }

  const ValueType& type_of(int32_t slot) const { return graph_.value(plan_->slots[static_cast<size_t>(slot)].value).type; }

  // Nothing where only a run tells.
  std::optional<BufferSize> buffer_size(int32_t slot) {
    const ValueType& type = type_of(slot);
    if (!options_.plan_memory || !on_host(slot) || !type.is_tensor() || bits_of(type.tensor().dtype) == 0) return std::nullopt;
    const Dim elements = type.tensor().elements();
    BufferSize size{SizeProgram::kNone, 0, bits_of(type.tensor().dtype)};
    if (elements.is_constant()) {
      size.constant = elements.value();
      return size;
    }
    size.elements = plan_->sizes.add(elements);
    return size.elements == SizeProgram::kNone ? std::nullopt : std::optional(size);
  }

  void choose_place(int32_t slot) {
    Slot& target = plan_->slots[static_cast<size_t>(slot)];
    members_[static_cast<size_t>(slot)].push_back(slot);
    if (target.kind == Slot::Kind::output) return;
    reserve(slot);
  }

  // A buffer of its own, where its size is known.
  void reserve(int32_t slot) {
    Slot& target = slot_at(slot);
    if (target.buffer >= 0) return;
    const auto size = buffer_size(slot);
    if (target.root == slot) target.kind = size ? Slot::Kind::planned : Slot::Kind::late;
    if (!size) return;
    target.buffer = static_cast<int32_t>(plan_->buffers.size());
    plan_->buffers.push_back(*size);
  }

  void add_releases(Step& step, const std::vector<int32_t>& read) {
    step.first_release = static_cast<int32_t>(plan_->releases.size());
    const auto release = [&](int32_t slot) {
      const int32_t root = plan_->slots[static_cast<size_t>(slot)].root;
      auto& members = members_[static_cast<size_t>(root)];
      if (plan_->slots[static_cast<size_t>(root)].kind != Slot::Kind::late || uses_[static_cast<size_t>(root)] != 0) return;
      if (used_by_streams_[static_cast<size_t>(root)] && on_host(root)) return;  // the run's end releases it
      plan_->releases.insert(plan_->releases.end(), members.begin(), members.end());
      members.clear();
    };
    for (int32_t slot : read) release(slot);
    for (int32_t o = 0; o < step.output_count; ++o) {
      const int32_t slot = plan_->step_outputs[static_cast<size_t>(step.first_output + o)];
      if (slot != kNoSlot) release(slot);
    }
    step.release_count = static_cast<int32_t>(plan_->releases.size()) - step.first_release;
  }

  Graph& graph_;
  Assignment& assignment_;
  std::span<const std::shared_ptr<Provider>> providers_;
  const PlanOptions& options_;
  std::unique_ptr<Plan> plan_ = std::make_unique<Plan>();
  std::vector<NodeId> order_;
  std::vector<PackedBytes> packed_;            // by node in that order
  std::vector<int32_t> slot_of_;               // by value
  std::vector<int32_t> constant_uses_;         // by value: consumers that have not packed it, and the graph's output
  std::vector<ValueId> captured_values_;       // of the enclosing graph
  std::vector<int32_t> uses_;                  // by root slot: uses that are still to come
  std::vector<std::vector<int32_t>> members_;  // by root slot: those that share its memory
  std::vector<int32_t> made_by_;               // by slot: the step
  std::vector<bool> used_by_streams_;          // by root slot
  ValueParts parts_;
  int32_t last_host_step_ = -1;
};

// Holds units against "session.disable_model_compile".
void check_compiled_before(std::span<const Unit* const> units, const Provider& provider) {
  for (const Unit* unit : units) {
    if (count_context_nodes(*unit->body) > 0) continue;
    fail(ErrorCode::requires_compilation,
         "{} would have to compile nodes of the model ({}), which 'session.disable_model_compile' forbids: "
         "load a compiled model, or leave the entry out",
         provider.name(), unit->name);
  }
}

// Graph by graph, bodies first, as plugins know it.
void compile_units(Graph& graph, Assignment& assignment, size_t index, Provider& provider, bool may_compile) {
  std::vector<NodeAssignment*> nodes;
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [&](Graph& body) { compile_units(body, assignment, index, provider, may_compile); });
    NodeAssignment& assigned = assignment.of(graph, id);
    if (assigned.unit && assigned.provider == static_cast<int>(index)) nodes.push_back(&assigned);
  }
  if (nodes.empty()) return;
  std::vector<const Unit*> units;
  for (NodeAssignment* node : nodes) units.push_back(node->unit.get());
  if (!may_compile) check_compiled_before(units, provider);
  std::vector<std::unique_ptr<Kernel>> kernels = provider.compile(units);
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i]->compiled = std::move(kernels.at(i));
}

// Of subgraphs, what sizes may follow from stays: see infer_outputs.
void drop_initializers(Graph& graph, bool is_subgraph) {
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    const GraphValue& value = graph.value(id);
    const bool stays = is_subgraph && value.constant_tensor() && may_hold_sizes(*value.constant_tensor());
    if (!value.initializer.empty() && !stays) graph.set_initializer(id, Value());
  }
  for (NodeId id : graph.nodes()) {
    Graph::for_each_subgraph(graph.mutable_node(id), [](Graph& subgraph) { drop_initializers(subgraph, true); });
  }
}

}  // namespace

std::unique_ptr<Plan> build_plan(Graph& graph, Assignment& assignment, std::span<const std::shared_ptr<Provider>> providers,
                                 const PlanOptions& options) {
  for (size_t p = 0; p < providers.size(); ++p) compile_units(graph, assignment, p, *providers[p], options.compile_units);
  auto plan = PlanBuilder(graph, assignment, providers, options).build();
  drop_initializers(graph, false);
  return plan;
}

}  // namespace rh
