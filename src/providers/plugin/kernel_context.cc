#include "providers/plugin/kernel_context.h"

#include "providers/plugin/call.h"

namespace {

bool has_bit(uint64_t bits, size_t i) { return i < 64 && (bits >> i & 1) != 0; }

void check_shape(const rh::plugin::OutputFact& expected, size_t index, const rh::Shape& shape) {
  if (!expected.type.is_tensor() || !expected.type.tensor().has_rank()) return;
  const rh::SymbolicShape& dims = *expected.type.tensor().dims;
  bool same = static_cast<size_t>(shape.rank()) == dims.size();
  for (size_t i = 0; same && i < dims.size(); ++i) same = !dims[i].is_constant() || dims[i].value() == shape[static_cast<int>(i)];
  if (same) return;
  rh::fail(rh::ErrorCode::ep_fail, "output {} ('{}') would have the shape {}, expected {}", index, expected.name, shape.to_string(),
           expected.type.to_string());
}

}  // namespace

OrtKernelContext::OrtKernelContext(rh::RunContext& context, const rh::plugin::KernelPlace& kernel_place)
    : run(context), place(kernel_place) {
  inputs_.resize(static_cast<size_t>(run.input_count()));
  outputs_.resize(static_cast<size_t>(run.output_count()));
}

OrtKernelContext::~OrtKernelContext() {
  if (device_scratch_.empty()) return;
  if (rh::Stream* stream = run.stream()) (void)stream->record()->wait_on_host();  // work under way may still use it
  for (void* memory : device_scratch_) rh::plugin::tell([&] { place.allocator->Free(place.allocator, memory); });
}

void* OrtKernelContext::device_scratch(size_t bytes) {
  device_scratch_.reserve(device_scratch_.size() + 1);
  void* memory = rh::plugin::ask<void*>(nullptr, [&] { return place.allocator->Alloc(place.allocator, bytes); });
  if (!memory)
    rh::fail(rh::ErrorCode::runtime_exception, "the allocator of '{}' gave no {} bytes of scratch memory", place.memory->name, bytes);
  device_scratch_.push_back(memory);
  return memory;
}

const OrtValue* OrtKernelContext::input(size_t index) {
  if (index >= inputs_.size()) return nullptr;
  const int i = static_cast<int>(index);
  if (!run.has_input(i)) return nullptr;
  if (!inputs_[index]) {
    inputs_[index] = std::make_unique<OrtValue>(run.input_value(i));
    const rh::Value& value = inputs_[index]->value;
    if (value.is_tensor() && !value.tensor().device().is_host()) inputs_[index]->memory = place.memory;
  }
  return inputs_[index].get();
}

OrtValue* OrtKernelContext::output(size_t index, const int64_t* dims, size_t rank) {
  if (index >= outputs_.size()) return nullptr;
  const int i = static_cast<int>(index);
  if (!run.has_output(i)) return nullptr;
  if (!outputs_[index]) {
    const rh::DType dtype = run.output_dtype(i);
    if (dtype == rh::DType::undefined) {
      rh::fail(rh::ErrorCode::fail, "the element type of output {} is not known: its operator declares none, and no input gives one",
               index);
    }
    const rh::Shape shape = rh::abi::checked_shape(dims, rank, dtype);
    if (index < place.outputs.size()) check_shape(place.outputs[index], index, shape);
    const rh::MutableView view = run.output(i, dtype, shape);
    if (!place.same_memory.empty()) start_as_input(i, view);
    const bool on_device = place.memory && !has_bit(place.host_outputs, index);
    rh::Tensor tensor(dtype, shape, view.raw(), nullptr, on_device ? place.device : rh::Device{});
    outputs_[index] = std::make_unique<OrtValue>();
    outputs_[index]->value = std::move(tensor);
    if (on_device) outputs_[index]->memory = place.memory;
  }
  return outputs_[index].get();
}

void OrtKernelContext::start_as_input(int output, const rh::MutableView& memory) {
  for (const auto& [input, to] : place.same_memory) {
    if (to != output || !run.has_input(input) || !run.input_value(input).is_tensor()) continue;
    const rh::TensorView from = run.input(input);
    if (from.raw() != memory.raw() && from.dtype() == memory.dtype() && from.elements() == memory.elements()) copy_elements(from, memory);
  }
}

rh::Status OrtKernelContext::check_given() const {
  for (size_t i = 0; !given_ && i < outputs_.size() && i < place.outputs.size(); ++i) {
    if (outputs_[i] || !run.has_output(static_cast<int>(i)) || !place.outputs[i].type.is_tensor()) continue;
    return rh::error_status(rh::ErrorCode::ep_fail, "it gave no output {} ('{}'), expected {}", i, place.outputs[i].name,
                            place.outputs[i].type.to_string());
  }
  return {};
}
