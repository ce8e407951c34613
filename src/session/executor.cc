#include "session/executor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/cancellation.h"
#include "base/thread_memory.h"
#include "partition/copies.h"
#include "providers/cpu/cpu_provider.h"
#include "session/kernel_errors.h"
#include "session/observer.h"
#include "session/options.h"
#include "session/profiler.h"
#include "session/step_trace.h"
#include "session/subgraph_types.h"
#include "session/value_types.h"
#include "settings/keys.h"
#include "tensor/extent.h"

namespace rh {

namespace {

std::string describe(const Value* value) {
  if (!value || value->empty()) return "nothing";
  if (value->is_tensor()) return std::string(to_string(value->tensor().dtype())) + value->tensor().shape().to_string();
  if (value->is_sequence()) return fmt::format("a sequence of {}", value->sequence().elements.size());
  return value->is_map() ? "a map" : value->is_sparse() ? "a sparse tensor" : "an empty optional";
}

// A tensor without owner lies in the frame, or in memory that the caller lends: whatever outlives the step must be copied.
void make_owned(Tensor& tensor) {
  if (tensor.defined() && !tensor.owns_memory()) tensor = tensor.clone();
}

bool is_owned(const Value& value) {
  if (value.is_tensor()) return !value.tensor().defined() || value.tensor().owns_memory();
  if (value.is_sequence()) return std::ranges::all_of(value.sequence().elements, is_owned);
  if (value.is_map()) return value.map().keys.owns_memory() && value.map().values.owns_memory();
  return !value.is_sparse() || (value.sparse().values.owns_memory() && value.sparse().indices.owns_memory());
}

Value owned(Value value) {
  if (is_owned(value)) return value;
  if (value.is_tensor()) {
    make_owned(value.tensor());
    return value;
  }
  if (value.is_sequence()) {
    Sequence copy = value.sequence();
    for (Value& element : copy.elements) element = owned(std::move(element));
    return copy;
  }
  if (value.is_map()) {
    Map copy = value.map();
    make_owned(copy.keys);
    make_owned(copy.values);
    return copy;
  }
  SparseTensor copy = value.sparse();
  make_owned(copy.values);
  make_owned(copy.indices);
  make_owned(copy.outer_indices);
  return copy;
}

// What the caller gets shares with nobody: not with his inputs, nor with constants.
Value separate(Value value, const std::shared_ptr<MemoryAccount>& account) {
  if (value.is_tensor() && value.tensor().defined() && value.tensor().owner().use_count() != 1) {
    const Tensor& tensor = value.tensor();
    Tensor copy = counted_output(account, tensor.dtype(), tensor.shape());
    copy_elements(tensor.view(), copy.mutable_view());
    return copy;
  }
  value = owned(std::move(value));
  if (value.is_sequence()) {
    for (Value& element : value.sequence().elements) element = separate(std::move(element), account);
  }
  return value;
}

// What is wrong with an output that the caller gave, not with what a kernel was given.
struct GivenOutputError : Error {
  using Error::Error;
};

void check_bound(const Value& bound, DType dtype, const Shape& shape, const std::string& name) {
  if (!bound.is_tensor() || bound.tensor().dtype() != dtype || !(bound.tensor().shape() == shape)) {
    throw GivenOutputError(ErrorCode::invalid_argument, fmt::format("output '{}': the value given for it is {}, expected {}{}", name,
                                                                    describe(&bound), to_string(dtype), shape.to_string()));
  }
}

class StepContext final : public RunContext {
 public:
  StepContext(Frame& frame, const Step& step)
      : RunContext(frame.inputs_of(step), frame.output_dtypes_of(step),
                   {frame.plan().outputs_wanted.get() + step.first_output, static_cast<size_t>(step.output_count)},
                   frame.controls().parallel),
        frame_(frame),
        step_(step) {}

  MutableView output(int i, DType dtype, const Shape& shape) override {
    if (dtype == DType::undefined) fail(ErrorCode::fail, "output {} has no element type", i);
    check_output_dtype(frame_.plan(), step_, i, dtype);
    check_shape(i, shape);
    if (const size_t bytes = bytes_of(dtype, shape.elements()); bytes > frame_.controls().max_tensor_bytes) {
      fail_too_large(fmt::format("output {} would be {}{}", i, to_string(dtype), shape.to_string()), bytes);
    }
    const int32_t slot = slot_of(i);
    if (slot == kNoSlot) return unnamed(dtype, shape);
    Value& value = frame_.value(slot);
    if (frame_.plan().slots[static_cast<size_t>(slot)].kind == Slot::Kind::output && alias_of(i).kind == OutputAlias::Kind::none) {
      give_output(slot, value, dtype, shape);
    } else if (dtype == DType::string) {
      value = Tensor(dtype, shape);
      frame_.note_held(slot);
    } else {
      value = Tensor(dtype, shape, place(i, slot, bytes_of(dtype, shape.elements())), nullptr, frame_.plan().device_of(slot));
    }
    return value.tensor().mutable_view();
  }

  FetchList ahead() const override { return frame_.plan().fetches_of(step_); }

  void set_output(int i, Value given) override {
    const int32_t slot = slot_of(i);
    if (slot == kNoSlot) return;
    check_given(i, given);
    const Slot& target = frame_.plan().slots[static_cast<size_t>(slot)];
    if (target.kind != Slot::Kind::output || alias_of(i).kind != OutputAlias::Kind::none) {
      frame_.note_held(slot);
    } else if (const Value& bound = frame_.bound_output(target.index);
               !is_subgraph() && !bound.empty() && given.is_tensor() && given.tensor().device().is_host()) {
      const MutableView view = output(i, given.tensor().dtype(), given.tensor().shape());
      copy_elements(given.tensor().view(), view);
      frame_.keep_spare(slot, std::move(given));
      return;
    }
    frame_.value(slot) = owned(std::move(given));
  }

  Value spare_output(int i) override {
    const int32_t slot = slot_of(i);
    if (slot == kNoSlot) return {};
    const Slot& target = frame_.plan().slots[static_cast<size_t>(slot)];
    const bool is_given_back = is_subgraph() && target.kind == Slot::Kind::output && alias_of(i).kind == OutputAlias::Kind::none;
    return is_given_back ? std::exchange(frame_.bound_output(target.index), Value()) : frame_.take_spare(slot);
  }

  void output_part(int i, int from, int64_t first, const Shape& shape) override {
    const int32_t slot = slot_of(i);
    if (slot == kNoSlot) return;
    const Tensor& source = input_tensor(from);
    check_output_dtype(frame_.plan(), step_, i, source.dtype());
    check_shape(i, shape);
    Tensor part = source.part(first, shape);
    if (shares(i, from, part.elements() == source.elements())) {
      frame_.value(slot) = std::move(part);
      if (source.owns_memory()) frame_.note_held(slot);
      return;
    }
    copy_elements(part.view(), output(i, source.dtype(), shape));
  }

  Shape told_shape(int i) const override {
    const Plan& plan = frame_.plan();
    std::vector<RunInput> inputs;
    for (int32_t slot : plan.inputs) inputs.push_back({plan.slots[static_cast<size_t>(slot)].value, frame_.find(slot), nullptr});
    const int32_t slot = slot_of(i);
    if (slot == kNoSlot) return {};
    return sizes_in_run(*plan.graph, plan.graph->value(plan.slots[static_cast<size_t>(slot)].value).type, inputs);
  }

  void* scratch(size_t bytes) override {
    if (bytes > frame_.controls().max_tensor_bytes) fail_too_large("the node needs working memory", bytes);
    return frame_.scratch(bytes);
  }
  Stream* stream() const override { return frame_.stream_of(step_); }
  SubgraphRunner& subgraph(int k) override { return frame_.subplan(step_.first_subplan + k); }

 private:
  static void check_shape(int i, const Shape& shape) {
    if (std::ranges::any_of(shape, [](int64_t dim) { return dim < 0; }) || extent(shape) > kMostElements) {
      fail(ErrorCode::invalid_argument, "output {} would have the shape {}", i, shape.to_string());
    }
  }
  // Of a subgraph the outputs that are there are no more than memory that may be used.
  bool is_subgraph() const { return frame_.controls().depth > 0; }
  size_t flat(int i) const { return static_cast<size_t>(step_.first_output + i); }
  int32_t slot_of(int i) const { return frame_.plan().step_outputs[flat(i)]; }
  const OutputAlias& alias_of(int i) const { return frame_.plan().output_aliases[flat(i)]; }
  bool shares(int i, int from, bool all) const {
    const OutputAlias& alias = alias_of(i);
    if (alias.input != from) return false;
    return alias.kind == OutputAlias::Kind::part ? frame_.has_parts_in_place() : alias.kind == OutputAlias::Kind::view && all;
  }

  void check_given(int i, const Value& given) const {
    if (given.is_tensor()) return check_output_dtype(frame_.plan(), step_, i, given.tensor().dtype());
    if (frame_.plan().output_dtypes[flat(i)] == DType::undefined) return;
    fail(ErrorCode::invalid_graph, "output {} is {}, but the model says that it is a tensor of {}", i, describe(&given),
         to_string(frame_.plan().output_dtypes[flat(i)]));
  }

  [[noreturn]] void fail_too_large(const std::string& what, size_t bytes) const {
    fail(ErrorCode::runtime_exception, "{} of {} bytes, expected at most {}: make it smaller, or raise '{}' of the session", what, bytes,
         frame_.controls().max_tensor_bytes, kKeyOf<&Settings::max_tensor_bytes>);
  }

  void give_output(int32_t slot, Value& value, DType dtype, const Shape& shape) {
    const Slot& target = frame_.plan().slots[static_cast<size_t>(slot)];
    Value& bound = frame_.bound_output(target.index);
    if (is_subgraph() && !bound.empty() && (bound.tensor().dtype() != dtype || !(bound.tensor().shape() == shape))) bound = Value();
    if (!bound.empty()) check_bound(bound, dtype, shape, frame_.plan().name_of(slot));
    const Place& place = frame_.plan().places[static_cast<size_t>(target.place)];
    if (!bound.empty() && bound.tensor().device() == place.device) {
      value = bound;
    } else {
      value = place.owner ? device_tensor(place.owner, dtype, shape) : counted_output(frame_.account(), dtype, shape);
    }
  }

  // Sharing was planned on inferred sizes; here the real ones decide.
  void* place(int i, int32_t slot, size_t bytes) {
    const OutputAlias& alias = alias_of(i);
    if (alias.kind == OutputAlias::Kind::none || alias.kind == OutputAlias::Kind::part) return frame_.memory_of(slot, bytes);
    const int32_t root = frame_.plan().slots[static_cast<size_t>(slot)].root;
    if (alias.kind == OutputAlias::Kind::view) return frame_.extra_memory(slot, bytes);
    const Tensor& input = input_tensor(alias.input);
    if (!frame_.lives_in(root, input.raw())) return frame_.memory_of(root, bytes);
    return input.bytes() == bytes ? const_cast<void*>(input.raw()) : frame_.extra_memory(slot, bytes);
  }

  // An output that the model leaves out, but the kernel computes.
  MutableView unnamed(DType dtype, const Shape& shape) {
    unnamed_.push_back(std::make_unique<Tensor>(dtype, shape));
    return unnamed_.back()->mutable_view();
  }

  Frame& frame_;
  const Step& step_;
  std::vector<std::unique_ptr<Tensor>> unnamed_;
};

// The failure with the node, its operator and what it was given.
Status locate(const Status& status, const Frame& frame, const Step& step, ErrorCode code) try {
  std::string message(status.message());
  message += "; inputs:";
  for (size_t i = 0; i < step.node->inputs.size(); ++i) {
    const ValueId id = step.node->inputs[i];
    const Value* value = frame.inputs_of(step)[i];
    message += i ? ", " : " ";
    message += id == kNoValue ? "none" : "'" + frame.plan().graph->value(id).name + "' " + (value ? describe(value) : "packed");
  }
  return Status(Error(code, std::move(message), step.node->where()));
} catch (const std::bad_alloc&) {
  return status;
}

Status locate(const Status& status, const Frame& frame, const Step& step) {
  const bool ours = step.provider == cpu::kProviderName;
  return locate(status, frame, step, ours ? code_of_kernel_error(*step.node, status.code()) : status.code());
}

void watch(Frame& frame, const Step& step, std::chrono::steady_clock::time_point begin, std::chrono::steady_clock::time_point end) {
  const Plan& plan = frame.plan();
  const auto readable = [](const Value* value) {
    return value && value->is_tensor() && !value->tensor().device().is_host() ? nullptr : value;
  };
  InlineVector<const Value*, 8> inputs, outputs;
  for (const Value* input : frame.inputs_of(step)) inputs.push_back(readable(input));
  for (int32_t o = 0; o < step.output_count; ++o) {
    const int32_t slot = plan.step_outputs[static_cast<size_t>(step.first_output + o)];
    outputs.push_back(slot == kNoSlot ? nullptr : readable(&frame.value(slot)));
  }
  const std::span<const Value* const> made(outputs.begin(), outputs.size());
  frame.controls().observer->after_step({*plan.graph,
                                         *step.node,
                                         step.provider,
                                         {inputs.begin(), inputs.size()},
                                         made,
                                         frame.controls().depth,
                                         begin,
                                         end,
                                         frame.scratch_bytes()});
}

// What the step needs is done, or its stream waits for it.
Status wait_for_inputs(Frame& frame, const Step& step) {
  Stream* stream = frame.stream_of(step);
  for (int32_t i = 0; i < step.wait_count; ++i) {
    Notification* done = frame.notification(frame.plan().waits[static_cast<size_t>(step.first_wait + i)]);
    if (!done || (stream && done->wait_on(*stream))) continue;
    RH_RETURN_IF_ERROR(done->wait_on_host());
  }
  const auto& streams = frame.controls().streams;
  if (step.copy_into != kHostStream && stream && !streams.empty()) {
    Stream* target = streams[static_cast<size_t>(step.copy_into)];
    const std::unique_ptr<Notification> done = target ? target->record() : nullptr;
    if (done && !done->wait_on(*stream)) return done->wait_on_host();
  }
  return {};
}

void count_copy(const Frame& frame, std::atomic<int64_t> CopyCounters::* cause, const Tensor& tensor) {
  CopyCounters* copies = frame.controls().copies;
  if (!copies) return;
  (copies->*cause).fetch_add(1, std::memory_order_relaxed);
  copies->bytes.fetch_add(static_cast<int64_t>(tensor.bytes()), std::memory_order_relaxed);
}

Status over_budget(const OverBudget& error, const Frame& frame) try {
  return Status(error.code(), fmt::format("{}; the largest tensors of the run: {}; the largest weights: {}; give smaller inputs, run fewer "
                                          "at a time, call trim(), or raise the budget",
                                          error.what(), list_largest(frame.live_tensors()), list_largest(weights_of(frame.plan()), 4)));
} catch (...) {
  return status_of_current_exception();
}

Status run_step(Frame& frame, const Step& step) {
  StepContext context(frame, step);
  Profiler* profiler = frame.controls().profiler;
  const bool watched = frame.controls().observer != nullptr;
  if (!profiler && !watched) return step.kernel->run(context);
  const std::string given = profiler ? inputs_in_trace(frame, step) : std::string();
  const MemoryInTrace held = profiler ? memory_now(frame) : MemoryInTrace();
  const Profiler::Mark mark = profiler ? profiler->begin() : Profiler::Mark();
  const auto begin = std::chrono::steady_clock::now();
  Status status = step.kernel->run(context);
  const auto end = std::chrono::steady_clock::now();
  if (profiler) {
    const std::string memory = memory_in_trace(held, memory_now(frame));
    profiler->record_node(*step.node, step.provider, mark, given + "," + outputs_in_trace(frame, step) + "," + memory);
  }
  if (watched && status.ok()) watch(frame, step, begin, end);
  return status;
}

Status submit(Frame& frame, const Step& step, size_t number) {
  RH_RETURN_IF_ERROR(wait_for_inputs(frame, step));
  RH_RETURN_IF_ERROR(run_step(frame, step));
  if (step.copies) count_copy(frame, &CopyCounters::steps, frame.inputs_of(step)[0]->tensor());
  if (Stream* stream = frame.stream_of(step); stream && step.signals) frame.set_notification(number, stream->record());
  return {};
}

Status run_steps(Frame& frame) {
  const Plan& plan = frame.plan();
  const RunControls& controls = frame.controls();
  const Step* step = plan.steps.data();
  try {
    for (size_t s = 0; s < plan.steps.size(); ++s, ++step) {
      throw_if_cancelled();
      if (controls.steps && !(*controls.steps)[s]) continue;
      if (Status status = plan.uses_streams ? submit(frame, *step, s) : run_step(frame, *step); !status.ok()) {
        return locate(status, frame, *step);
      }
      frame.reset_scratch();
      for (int32_t i = 0; i < step->release_count; ++i) frame.release(plan.releases[static_cast<size_t>(step->first_release + i)]);
    }
  } catch (const OverBudget& error) {
    return locate(over_budget(error, frame), frame, *step);
  } catch (const GivenOutputError& error) {
    return locate(Status(error), frame, *step, error.code());
  } catch (...) {
    return locate(status_of_current_exception(), frame, *step);
  }
  return {};
}

// Tools tell the runs in a trace apart by this event.
Status run_traced(Frame& frame) {
  Profiler* profiler = frame.controls().profiler;
  if (!profiler) return run_steps(frame);
  const Profiler::Mark mark = profiler->begin();
  Status status = run_steps(frame);
  profiler->record_session("SequentialExecutor::Execute", mark);
  return status;
}

bool is_produced(const Plan& plan, size_t output) {
  const Slot& slot = plan.slots[static_cast<size_t>(plan.outputs[output])];
  return slot.kind == Slot::Kind::output && slot.index == static_cast<int32_t>(output);
}

// Copies a tensor to where it is wanted, and waits for it.
void move_tensor(const Frame& frame, const Tensor& from, Tensor& to, std::atomic<int64_t> CopyCounters::* cause) {
  DataTransfer* transfer = find_transfer(frame.plan().providers, from.device(), to.device());
  if (!transfer) fail(ErrorCode::ep_fail, "no provider copies from {} to {}", from.device().to_string(), to.device().to_string());
  if (const Status status = transfer->copy(from, to, nullptr); !status.ok()) throw Error(status.code(), std::string(status.message()));
  count_copy(frame, cause, to);
}

bool is_on_device(const Value& value) { return value.is_tensor() && !value.tensor().device().is_host(); }

// The tensor in memory of its device that the frame does not take back.
Value kept_on_device(const Frame& frame, Value value) {
  const Tensor& tensor = value.tensor();
  if (tensor.owns_memory()) return value;
  const auto& places = frame.plan().places;
  const auto place = std::ranges::find(places, tensor.device(), &Place::device);
  if (place == places.end()) fail(ErrorCode::fail, "no provider of the graph has memory on {}", tensor.device().to_string());
  Tensor copy = device_tensor(place->owner, tensor.dtype(), tensor.shape());
  move_tensor(frame, tensor, copy, &CopyCounters::steps);
  return copy;
}

// The result in memory that the caller may keep: on the host, unless it is to stay on the device that made it.
Value result(const Frame& frame, Value value, bool stays, Level level) {
  if (!is_on_device(value)) return level == Level::top ? separate(std::move(value), frame.account()) : owned(std::move(value));
  if (level == Level::subgraph) return kept_on_device(frame, std::move(value));
  if (stays && value.tensor().owner().use_count() == 1) return value;
  Tensor copy = counted_output(frame.account(), value.tensor().dtype(), value.tensor().shape());
  move_tensor(frame, value.tensor(), copy, &CopyCounters::outputs);
  return copy;
}

void fill_bound(const Frame& frame, const Value& from, Value& to, const std::string& name) {
  check_bound(to, from.tensor().dtype(), from.tensor().shape(), name);
  if (from.tensor().device().is_host() && to.tensor().device().is_host()) {
    copy_elements(from.tensor().view(), to.tensor().mutable_view());
  } else if (from.tensor().raw() != to.tensor().raw()) {
    move_tensor(frame, from.tensor(), to.tensor(), &CopyCounters::outputs);
  }
}

// Whether a tensor that must be copied fits into memory that a run of the subgraph before has left.
bool fits_in(const Value& from, const Value& to) {
  return from.is_tensor() && from.tensor().defined() && !from.tensor().owns_memory() && from.tensor().device().is_host() &&
         is_spare_memory(to) && to.tensor().dtype() == from.tensor().dtype() && to.tensor().shape() == from.tensor().shape();
}

// Into the value that the caller bound, or as a new one.
void hand_out(const Frame& frame, Value from, Value& to, const std::string& name, bool stays, Level level) {
  const bool copied = is_on_device(from);
  try {
    if (level == Level::subgraph && fits_in(from, to)) {
      copy_elements(from.tensor().view(), to.tensor().mutable_view());
    } else if (to.empty() || !from.is_tensor() || level == Level::subgraph) {
      to = result(frame, std::move(from), stays, level);
    } else {
      fill_bound(frame, from, to, name);
    }
  } catch (const OverBudget&) {
    throw;
  } catch (const Error& error) {
    if (!copied) throw;
    fail(error.code(), "copying output '{}': {}", name, error.what());
  }
}

bool stays_on_device(const Frame& frame, size_t output) {
  const auto* keep = frame.controls().keep_on_device;
  return keep && (*keep)[output];
}

// The copy on the host of an output that a device made; null where no step that ran has made one.
Value* find_host_output(Frame& frame, size_t output) {
  const int32_t slot = frame.plan().host_outputs[output];
  return slot == kNoSlot || frame.value(slot).empty() ? nullptr : &frame.value(slot);
}

void collect_outputs(Frame& frame, std::span<Value> outputs, Level level) {
  const Plan& plan = frame.plan();
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (!is_produced(plan, k)) continue;
    Value& value = frame.value(plan.outputs[k]);
    if (value.empty() && !frame.controls().steps) {
      fail(ErrorCode::fail, "output '{}' got no value from the node that gives it", plan.name_of(plan.outputs[k]));
    }
    const bool stays = stays_on_device(frame, k);
    Value* copied = find_host_output(frame, k);
    const bool to_host = outputs[k].empty() ? !stays : !is_on_device(outputs[k]);
    if (copied && to_host) std::swap(value, *copied);
    hand_out(frame, std::move(value), outputs[k], plan.name_of(plan.outputs[k]), stays, level);
    value = Value();
    if (copied) *copied = Value();
  }
  // Outputs that are inputs, constants, or stand a second time.
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (is_produced(plan, k)) continue;
    const Slot& slot = plan.slots[static_cast<size_t>(plan.outputs[k])];
    const Value& from = slot.kind == Slot::Kind::output ? outputs[static_cast<size_t>(slot.index)] : *frame.find(plan.outputs[k]);
    hand_out(frame, from, outputs[k], plan.name_of(plan.outputs[k]), false, level);
  }
}

Status wait_for(Stream& stream) try {
  const std::unique_ptr<Notification> done = stream.record();
  return done ? done->wait_on_host() : stream.flush();
} catch (...) {
  return status_of_current_exception();
}

// All work of this run on streams is done, whether it succeeded or not.
Status synchronize(const RunControls& controls) {
  Status status;
  for (Stream* stream : controls.streams) {
    if (!stream) continue;
    Status one = wait_for(*stream);
    if (status.ok()) status = std::move(one);
  }
  return status;
}

// Values that the caller gave in another memory than the plan expects are copied.
void stage_inputs(Frame& frame, std::span<const Value* const> inputs, std::vector<Value>& staged, std::vector<const Value*>& pointers) {
  const Plan& plan = frame.plan();
  staged.resize(inputs.size());
  pointers.assign(inputs.begin(), inputs.end());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || !inputs[i]->is_tensor() || inputs[i]->tensor().device() == plan.device_of(plan.inputs[i])) continue;
    const Tensor& given = inputs[i]->tensor();
    try {
      Tensor& there = frame.staged_input(i, given.dtype(), given.shape());
      move_tensor(frame, given, there, &CopyCounters::inputs);
      staged[i] = there;
    } catch (const OverBudget&) {
      throw;
    } catch (const Error& error) {
      fail(error.code(), "copying input '{}' to {}: {}", plan.name_of(plan.inputs[i]), plan.device_of(plan.inputs[i]).to_string(),
           error.what());
    }
    pointers[i] = &staged[i];
  }
}

bool needs_staging(const Plan& plan, std::span<const Value* const> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] && inputs[i]->is_tensor() && inputs[i]->tensor().device() != plan.device_of(plan.inputs[i])) return true;
  }
  return false;
}

}  // namespace

Status execute(Frame& frame, std::span<const Value* const> inputs, std::span<Value> outputs, const RunControls& controls, Level level) {
  Status status;
  std::optional<ThreadMemoryUse> scratch;
  if (level == Level::top) scratch.emplace();
  std::vector<Value> staged;
  std::vector<const Value*> pointers;
  try {
    frame.set_controls(controls);
    if (level == Level::top && needs_staging(frame.plan(), inputs)) {
      stage_inputs(frame, inputs, staged, pointers);
      inputs = pointers;
    }
    frame.begin(inputs, outputs, controls);
    status = run_traced(frame);
    if (frame.plan().uses_streams || level == Level::top) {
      Status done = synchronize(controls);
      if (status.ok()) status = std::move(done);
    }
    frame.end();
    if (status.ok()) collect_outputs(frame, outputs, level);
  } catch (const OverBudget& error) {
    status = over_budget(error, frame);
  } catch (...) {
    status = status_of_current_exception();
  }
  if (!status.ok()) {
    for (int32_t slot : frame.plan().outputs) {
      if (frame.plan().slots[static_cast<size_t>(slot)].kind == Slot::Kind::output) frame.value(slot) = Value();
    }
    for (int32_t slot : frame.plan().host_outputs) {
      if (slot != kNoSlot) frame.value(slot) = Value();
    }
  }
  return status;
}

SubplanRunner::SubplanRunner(const Plan& plan, Frame& enclosing)
    : enclosing_(enclosing), frame_(plan, enclosing.account()), inputs_(plan.inputs.size()) {}

Status SubplanRunner::run(std::span<const Value> inputs, std::span<Value> outputs) {
  const Plan& plan = frame_.plan();
  if (inputs.size() != static_cast<size_t>(plan.graph_inputs) || outputs.size() != plan.outputs.size()) {
    return error_status(ErrorCode::invalid_graph, "subgraph '{}' got {} inputs and {} outputs, expected {} and {}", plan.graph->name,
                        inputs.size(), outputs.size(), plan.graph_inputs, plan.outputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const GraphValue& taken = plan.graph->value(plan.slots[static_cast<size_t>(plan.inputs[i])].value);
    if (!fits(taken.type, inputs[i])) {
      return error_status(ErrorCode::invalid_graph,
                          "subgraph '{}' gets {} for its input '{}', expected {}: correct the type that the model gives to it",
                          plan.graph->name, kind_of(inputs[i]), taken.name, onnx_type_string(taken.type));
    }
    inputs_[i] = &inputs[i];
  }
  for (size_t i = 0; i < plan.captured.size(); ++i) inputs_[inputs.size() + i] = enclosing_.find(plan.captured[i]);
  for (Value& output : outputs) {
    if (!is_spare_memory(output)) output = Value();
  }
  controls_ = enclosing_.controls();
  controls_.steps = nullptr;
  ++controls_.depth;
  controls_.keep_on_device = nullptr;
  return execute(frame_, inputs_, outputs, controls_, Level::subgraph);
}

std::vector<ValueType> SubplanRunner::output_types(std::span<const Value> inputs, std::span<const ValueType> types) {
  const Plan& plan = frame_.plan();
  std::vector<RunInput> given(plan.inputs.size());
  for (size_t i = 0; i < given.size(); ++i) {
    given[i].id = plan.slots[static_cast<size_t>(plan.inputs[i])].value;
    const size_t captured = static_cast<size_t>(plan.graph_inputs);
    given[i].value = i < inputs.size() ? &inputs[i] : i >= captured ? enclosing_.find(plan.captured[i - captured]) : nullptr;
    given[i].type = i < types.size() ? &types[i] : nullptr;
  }
  return infer_outputs(*plan.graph, given);
}

}  // namespace rh
