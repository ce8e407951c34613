#include <algorithm>
#include <cstring>

#include "abi/allocator.h"
#include "capi/guard.h"
#include "capi/lora.h"
#include "capi/plugins.h"
#include "capi/session.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

OrtIoBinding& binding_of(OrtIoBinding* binding) { return checked(binding, "binding_ptr"); }

void check_input(const OrtIoBinding& binding, const char* name) {
  const auto named = [&](const ValueInfo& info) { return info.name == name; };
  const Session& session = session_of(binding.session);
  if (std::ranges::any_of(session.inputs(), named) || std::ranges::any_of(session.overridable_initializers(), named)) return;
  fail(ErrorCode::fail, "binding: the model has no input '{}'", name);
}

/// Binds anew, or in the place of what is bound to the name.
void bind_output(OrtIoBinding& binding, OrtIoBinding::Output output) {
  const auto found = std::ranges::find(binding.outputs, output.name, &OrtIoBinding::Output::name);
  if (found == binding.outputs.end()) {
    binding.outputs.push_back(std::move(output));
  } else {
    *found = std::move(output);
  }
}

std::vector<Shape> input_shapes(const OrtIoBinding& binding) {
  std::vector<Shape> shapes;
  for (const OrtIoBinding::Input& input : binding.inputs)
    shapes.push_back(input.value.is_tensor() ? input.value.tensor().shape() : Shape());
  return shapes;
}

/// One run; with `reuse`, into the memory of the last one where the caller bound none.
Status run_once(OrtSession& session, const OrtRunOptions* options, OrtIoBinding& binding, bool reuse) {
  std::vector<const char*> input_names, output_names;
  std::vector<const Value*> inputs;
  for (const OrtIoBinding::Input& input : binding.inputs) {
    input_names.push_back(input.name.c_str());
    inputs.push_back(&input.value);
  }
  const ActiveParameters parameters(options);
  parameters.add_to(input_names, inputs, [](const OrtValue& value) { return &value.value; });
  std::vector<Value> outputs(binding.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OrtIoBinding::Output& output = binding.outputs[i];
    output_names.push_back(output.name.c_str());
    if (output.bound || (reuse && output.value.value.is_tensor())) outputs[i] = output.value.value;
  }
  RunOptions run = run_options(options);
  for (const OrtIoBinding::Output& output : binding.outputs) run.stay_on_device.push_back(!output.device.is_host());
  RH_RETURN_IF_ERROR(session_of(&session).run(run, input_names, inputs, output_names, outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    OrtValue& value = binding.outputs[i].value;
    const bool bound = binding.outputs[i].bound;
    const Device wanted = binding.outputs[i].device;
    value.value = bound || wanted.is_host() ? std::move(outputs[i]) : session_of(&session).move_output(output_names[i], outputs[i], wanted);
    if (bound || !value.value.is_tensor() || value.value.tensor().device().is_host()) continue;
    if (const OrtMemoryInfo* info = memory_info_of(session, value.value.tensor().device())) {
      value.memory = std::make_shared<const OrtMemoryInfo>(*info);
    }
  }
  return {};
}

Status run(OrtSession& session, const OrtRunOptions* options, OrtIoBinding& binding) {
  if (binding.outputs.empty()) return Status(ErrorCode::invalid_argument, "run: at least one output must be bound");
  std::vector<Shape> shapes = input_shapes(binding);
  const bool reuse = shapes == binding.last_shapes;
  Status status = run_once(session, options, binding, reuse);
  // A shape that depends on data may have changed.
  if (reuse && status.code() == ErrorCode::invalid_argument) status = run_once(session, options, binding, false);
  if (status.ok()) binding.last_shapes = std::move(shapes);
  return status;
}

}  // namespace

OrtStatus* ORT_API_CALL CreateIoBinding(OrtSession* session, OrtIoBinding** out) {
  return guard([&] {
    checked(out, "out");
    *out = new OrtIoBinding{&checked(session, "session"), {}, {}, {}};
  });
}

void ORT_API_CALL ReleaseIoBinding(OrtIoBinding* binding) { delete binding; }

OrtStatus* ORT_API_CALL RunWithBinding(OrtSession* session, const OrtRunOptions* options, const OrtIoBinding* binding) {
  return guard([&] { return run(checked(session, "session"), options, binding_of(const_cast<OrtIoBinding*>(binding))); });
}

OrtStatus* ORT_API_CALL BindInput(OrtIoBinding* binding, const char* name, const OrtValue* value) {
  return guard([&] {
    OrtIoBinding& target = binding_of(binding);
    check_input(target, &checked(name, "name"));
    const Value content = session_of(target.session).place_input(name, checked(value, "val_ptr").value);
    const auto found = std::ranges::find(target.inputs, name, &OrtIoBinding::Input::name);
    if (found == target.inputs.end()) {
      target.inputs.push_back({name, content});
    } else {
      found->value = content;
    }
  });
}

OrtStatus* ORT_API_CALL BindOutput(OrtIoBinding* binding, const char* name, const OrtValue* value) {
  return guard([&] { bind_output(binding_of(binding), {&checked(name, "name"), checked(value, "val_ptr"), !value->value.empty()}); });
}

OrtStatus* ORT_API_CALL BindOutputToDevice(OrtIoBinding* binding, const char* name, const OrtMemoryInfo* info) {
  return guard([&] {
    OrtIoBinding& target = binding_of(binding);
    const Device device = abi::device_of(checked(info, "mem_info_ptr"));
    if (!device.is_host() && !session_of(target.session).provider_on(device)) {
      fail(ErrorCode::invalid_argument, "output '{}': no provider of the session has memory '{}'", &checked(name, "name"), info->name);
    }
    bind_output(target, {&checked(name, "name"), OrtValue(), false, device});
  });
}

OrtStatus* ORT_API_CALL GetBoundOutputNames(const OrtIoBinding* binding, OrtAllocator* allocator, char** buffer, size_t** lengths,
                                            size_t* count) {
  return guard([&] {
    const std::vector<OrtIoBinding::Output>& outputs = checked(binding, "binding_ptr").outputs;
    checked(buffer, "buffer") = nullptr;
    checked(lengths, "lengths") = nullptr;
    checked(count, "count") = 0;
    if (outputs.empty()) return;
    std::string text;
    for (const OrtIoBinding::Output& output : outputs) text += output.name;
    char* names = abi::copy_string(checked(allocator, "allocator"), text);
    size_t* sizes = nullptr;
    try {
      sizes = static_cast<size_t*>(abi::allocate(*allocator, outputs.size() * sizeof(size_t)));
    } catch (...) {
      allocator->Free(allocator, names);
      throw;
    }
    for (size_t i = 0; i < outputs.size(); ++i) sizes[i] = outputs[i].name.size();
    *buffer = names;
    *lengths = sizes;
    *count = outputs.size();
  });
}

OrtStatus* ORT_API_CALL GetBoundOutputValues(const OrtIoBinding* binding, OrtAllocator* allocator, OrtValue*** values, size_t* count) {
  return guard([&] {
    const std::vector<OrtIoBinding::Output>& outputs = checked(binding, "binding_ptr").outputs;
    checked(values, "output") = nullptr;
    checked(count, "output_count") = 0;
    if (outputs.empty()) return;
    std::vector<std::unique_ptr<OrtValue>> copies;
    for (const OrtIoBinding::Output& output : outputs) copies.push_back(std::make_unique<OrtValue>(output.value));
    auto** list = static_cast<OrtValue**>(abi::allocate(checked(allocator, "allocator"), outputs.size() * sizeof(OrtValue*)));
    for (size_t i = 0; i < copies.size(); ++i) list[i] = copies[i].release();
    *values = list;
    *count = outputs.size();
  });
}

void ORT_API_CALL ClearBoundInputs(OrtIoBinding* binding) {
  if (binding) binding->inputs.clear();
}

void ORT_API_CALL ClearBoundOutputs(OrtIoBinding* binding) {
  if (binding) binding->outputs.clear();
}

OrtStatus* ORT_API_CALL SynchronizeBoundInputs(OrtIoBinding* binding) {
  return guard([&] { return session_of(binding_of(binding).session).synchronize_inputs(); });
}

OrtStatus* ORT_API_CALL SynchronizeBoundOutputs(OrtIoBinding* binding) {
  return guard([&] { return session_of(binding_of(binding).session).synchronize_outputs(); });
}

}  // namespace rh::capi
