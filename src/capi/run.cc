#include "abi/status.h"
#include "base/inline_array.h"
#include "capi/guard.h"
#include "capi/lora.h"
#include "capi/plugins.h"
#include "capi/session.h"
#include "capi/table.h"

namespace rh::capi {

namespace {

/// Checks names and values, runs, and gives the results to the caller's handles: those that are there keep their address.
void run(OrtSession& session, const OrtRunOptions* options, const char* const* input_names, const OrtValue* const* inputs,
         size_t input_count, const char* const* output_names, size_t output_count, OrtValue** outputs) {
  checked_array(input_names, input_count, "input_names");
  checked_array(inputs, input_count, "inputs");
  checked_array(output_names, output_count, "output_names");
  checked_array(outputs, output_count, "outputs");
  if (output_count == 0) fail(ErrorCode::invalid_argument, "run: at least one output must be asked for");
  InlineArray<const Value*, 8> given(input_count);
  for (size_t i = 0; i < input_count; ++i) {
    if (!input_names[i] || !*input_names[i]) fail(ErrorCode::invalid_argument, "run: the name of input {} is empty", i);
    if (!inputs[i]) fail(ErrorCode::invalid_argument, "run: the value of input '{}' is null", input_names[i]);
    given[i] = &inputs[i]->value;
  }
  InlineArray<Value, 4> results(output_count);
  for (size_t i = 0; i < output_count; ++i) {
    if (!output_names[i] || !*output_names[i]) fail(ErrorCode::invalid_argument, "run: the name of output {} is empty", i);
    if (outputs[i]) results[i] = outputs[i]->value;
  }
  const std::span<const Value* const> values(given.data(), input_count);
  const Status status =
      session_of(&session).run(run_options(options), {input_names, input_count}, values, {output_names, output_count}, results);
  if (!status.ok()) throw Error(status.code(), std::string(status.message()));

  InlineArray<std::unique_ptr<OrtValue>, 4> made(output_count);
  for (size_t i = 0; i < output_count; ++i) {
    if (!outputs[i]) made[i] = std::make_unique<OrtValue>();
  }
  for (size_t i = 0; i < output_count; ++i) {
    if (!outputs[i]) outputs[i] = made[i].release();
    outputs[i]->value = std::move(results[i]);
  }
}

/// The same with the parameters of the active adapters among the inputs.
void run_adapted(OrtSession& session, const OrtRunOptions& options, const char* const* input_names, const OrtValue* const* inputs,
                 size_t input_count, const char* const* output_names, size_t output_count, OrtValue** outputs) {
  checked_array(input_names, input_count, "input_names");
  checked_array(inputs, input_count, "inputs");
  std::vector<const char*> names(input_names, input_names + input_count);
  std::vector<const OrtValue*> values(inputs, inputs + input_count);
  const ActiveParameters parameters(&options);
  parameters.add_to(names, values, [](const OrtValue& value) { return &value; });
  run(session, &options, names.data(), values.data(), names.size(), output_names, output_count, outputs);
}

/// What RunAsync was given. Names and inputs are the call's own; run options and the array of outputs stay the caller's until the callback.
struct AsyncCall {
  std::vector<std::string> names;  // of inputs, then of outputs
  std::vector<OrtValue> inputs;
  std::vector<const char*> input_names, output_names;
  std::vector<const OrtValue*> input_pointers;
  OrtStatus* status = nullptr;

  void take(const char* const* in, const OrtValue* const* values, size_t in_count, const char* const* out, size_t out_count) {
    checked_array(in, in_count, "input_names");
    checked_array(values, in_count, "inputs");
    checked_array(out, out_count, "output_names");
    names.reserve(in_count + out_count);
    inputs.reserve(in_count);
    for (size_t i = 0; i < in_count; ++i) {
      input_names.push_back(names.emplace_back(in[i] ? in[i] : "").c_str());
      input_pointers.push_back(values[i] ? &inputs.emplace_back(*values[i]) : nullptr);
    }
    for (size_t i = 0; i < out_count; ++i) output_names.push_back(names.emplace_back(out[i] ? out[i] : "").c_str());
  }
};

}  // namespace

OrtStatus* ORT_API_CALL Run(OrtSession* session, const OrtRunOptions* options, const char* const* input_names,
                            const OrtValue* const* inputs, size_t input_count, const char* const* output_names, size_t output_count,
                            OrtValue** outputs) {
  return guard([&] {
    OrtSession& target = checked(session, "session");
    if (options && !options->lora_adapters.empty()) {
      run_adapted(target, *options, input_names, inputs, input_count, output_names, output_count, outputs);
    } else {
      run(target, options, input_names, inputs, input_count, output_names, output_count, outputs);
    }
  });
}

OrtStatus* ORT_API_CALL RunAsync(OrtSession* session, const OrtRunOptions* options, const char* const* input_names,
                                 const OrtValue* const* inputs, size_t input_count, const char* const* output_names, size_t output_count,
                                 OrtValue** outputs, RunAsyncCallbackFn callback, void* user_data) {
  return guard([&] {
    session_of(session);
    if (!callback) fail(ErrorCode::invalid_argument, "argument 'run_async_callback' must not be null");
    auto call = std::make_shared<AsyncCall>();
    call->status = guard([&] { call->take(input_names, inputs, input_count, output_names, output_count); });
    const auto work = [=] {
      if (call->status) return;
      call->status = Run(session, options, call->input_names.data(), call->input_pointers.data(), input_count, call->output_names.data(),
                         output_count, outputs);
    };
    const auto done = [=] {
      OrtStatus* status = std::exchange(call->status, nullptr);
      callback(user_data, outputs, status ? 0 : output_count, status);
    };
    session->async_runs().add(work, done);
  });
}

OrtStatus* ORT_API_CALL CopyTensors(const OrtEnv* env, const OrtValue* const* sources, OrtValue* const* targets, OrtSyncStream* stream,
                                    size_t count) {
  return guard([&] {
    checked(env, "env");
    checked_array(sources, count, "src_tensors");
    checked_array(targets, count, "dst_tensors");
    for (size_t i = 0; i < count; ++i) {
      const Value& source = checked(sources[i], "src_tensors[i]").value;
      Value& target = checked(targets[i], "dst_tensors[i]").value;
      if (!source.is_tensor() || !target.is_tensor()) fail(ErrorCode::invalid_argument, "copy {}: both values must be tensors", i);
      const Tensor& from = source.tensor();
      Tensor& to = target.tensor();
      if (from.dtype() != to.dtype() || from.elements() != to.elements()) {
        fail(ErrorCode::invalid_argument, "copy {}: from {}{} to {}{}", i, to_string(from.dtype()), from.shape().to_string(),
             to_string(to.dtype()), to.shape().to_string());
      }
      if (from.device().is_host() && to.device().is_host()) {
        copy_elements(from.view(), to.mutable_view());
        continue;
      }
      DataTransfer* transfer = libraries_of(*env).find_transfer(from.device(), to.device());
      if (!transfer) {
        fail(ErrorCode::not_implemented, "copy {}: no registered provider copies from {} to {}", i, from.device().to_string(),
             to.device().to_string());
      }
      if (const Status status = transfer->copy(from, to, stream); !status.ok()) fail(status.code(), "copy {}: {}", i, status.message());
    }
  });
}

}  // namespace rh::capi
