// Making sessions, and asking them what they are.
#include "capi/session.h"

#include "abi/allocator.h"
#include "abi/arena_allocator.h"
#include "abi/type_info.h"
#include "base/known_words.h"
#include "capi/guard.h"
#include "capi/plugins.h"
#include "capi/table.h"
#include "providers/plugin/kernel_context.h"

OrtSession::OrtSession(const OrtEnv& environment) : env(&environment) { rh::abi::retain_env(env); }

rh::AsyncQueue& OrtSession::async_runs() {
  std::call_once(async_once_,
                 [&] { async_runs_ = std::make_unique<rh::AsyncQueue>(session->threads(), session->options().thread_functions); });
  return *async_runs_;
}

const std::shared_ptr<rh::Arena>& OrtSession::arena_for_callers() const {
  std::call_once(arena_once_,
                 [&] { arena_ = std::make_shared<rh::Arena>(rh::abi::allocator_over(rh::abi::default_allocator()), rh::ArenaSettings()); });
  return arena_;
}

OrtSession::~OrtSession() {
  async_runs_.reset();
  session.reset();
  rh::abi::release_env(const_cast<OrtEnv*>(env));
}

namespace rh::capi {

Session& session_of(const OrtSession* session) {
  if (!checked(session, "session").session) {
    fail(ErrorCode::fail, "Session not initialized: its model is being edited until FinalizeModelEditorSession");
  }
  return *session->session;
}

namespace {

const std::vector<ValueInfo>& inputs_of(const OrtSession* session) {
  return checked(session, "session").editing ? session->editing->signature.inputs : session_of(session).inputs();
}

const std::vector<ValueInfo>& outputs_of(const OrtSession* session) {
  return checked(session, "session").editing ? session->editing->signature.outputs : session_of(session).outputs();
}

const std::vector<ValueInfo>& initializers_of(const OrtSession* session) {
  return checked(session, "session").editing ? session->editing->signature.overridable_initializers
                                             : session_of(session).overridable_initializers();
}

template <typename... Model>
OrtStatus* create(const OrtEnv* env, const OrtSessionOptions* options, OrtPrepackedWeightsContainer* weights, OrtSession** out,
                  Model&&... model) {
  return guard([&] {
    checked(out, "out") = nullptr;
    const KeepingScope keeping(weights ? &weights->kept : nullptr);
    auto session = std::make_unique<OrtSession>(checked(env, "env"));
    SessionOptions converted = session_options(*env, options);
    apply_model_config(model..., converted);
    session->session = Session::create(std::forward<Model>(model)..., converted);
    *out = session.release();
  });
}

OrtStatus* create_from_file(const OrtEnv* env, const ORTCHAR_T* path, const OrtSessionOptions* options,
                            OrtPrepackedWeightsContainer* weights, OrtSession** out) {
  return guard([&] { return create(env, options, weights, out, utf8(&checked(path, "model_path"))); });
}

OrtStatus* create_from_bytes(const OrtEnv* env, const void* data, size_t bytes, const OrtSessionOptions* options,
                             OrtPrepackedWeightsContainer* weights, OrtSession** out) {
  return guard([&] {
    if (!data && bytes > 0) fail(ErrorCode::invalid_argument, "{} Argument 'model_data' must not be null", words::kNoModelData);
    const auto* first = checked_array(static_cast<const std::byte*>(data), bytes, "model_data");
    return create(env, options, weights, out, std::span<const std::byte>(first, bytes));
  });
}

const ValueInfo& entry(const std::vector<ValueInfo>& entries, size_t index, const char* what) {
  if (index >= entries.size()) fail(ErrorCode::fail, "{} {} was asked for; the model has {}", what, index, entries.size());
  return entries[index];
}

OrtStatus* type_of(const ValueInfo& info, OrtTypeInfo** out) {
  checked(out, "type_info");
  *out = abi::type_info_of(info.type).release();
  return nullptr;
}

OrtStatus* name_of(const ValueInfo& info, OrtAllocator* allocator, char** out) {
  checked(out, "value");
  *out = abi::copy_string(checked(allocator, "allocator"), info.name);
  return nullptr;
}

/// The session's own of a device's memory, and the shared one of host memory that a device reaches; null where there is none.
OrtAllocator* device_allocator(const OrtSession& session, const OrtMemoryInfo& info) {
  if (info.is_host()) return libraries_of(*session.env).shared_allocator(info);
  const std::shared_ptr<Provider> provider = session_of(&session).provider_on(abi::device_of(info));
  const auto* places = dynamic_cast<const plugin::PlaceOfKernels*>(provider.get());
  if (!places) return nullptr;
  const plugin::KernelPlace place = places->kernel_place();
  return abi::new_forwarding_allocator(*place.memory, *place.allocator, provider);
}

/// One answer for each input or output.
template <typename T>
void fill(const OrtSession* session, const std::vector<Device>& (Session::*places)() const, const char* what,
          const T* (*answer)(const OrtSession&, Device), const T** out, size_t room) {
  const std::vector<Device>& devices = (session_of(session).*places)();
  if (room < devices.size()) fail(ErrorCode::invalid_argument, "room for {} {} was given; the model has {}", room, what, devices.size());
  checked_array(out, devices.size(), what);
  for (size_t i = 0; i < devices.size(); ++i) out[i] = answer(*session, devices[i]);
}

}  // namespace

OrtStatus* ORT_API_CALL CreateSession(const OrtEnv* env, const ORTCHAR_T* path, const OrtSessionOptions* options, OrtSession** out) {
  return create_from_file(env, path, options, nullptr, out);
}

OrtStatus* ORT_API_CALL CreateSessionFromArray(const OrtEnv* env, const void* data, size_t bytes, const OrtSessionOptions* options,
                                               OrtSession** out) {
  return create_from_bytes(env, data, bytes, options, nullptr, out);
}

OrtStatus* ORT_API_CALL CreateSessionWithPrepackedWeightsContainer(const OrtEnv* env, const ORTCHAR_T* path,
                                                                   const OrtSessionOptions* options, OrtPrepackedWeightsContainer* weights,
                                                                   OrtSession** out) {
  return create_from_file(env, path, options, weights, out);
}

OrtStatus* ORT_API_CALL CreateSessionFromArrayWithPrepackedWeightsContainer(const OrtEnv* env, const void* data, size_t bytes,
                                                                            const OrtSessionOptions* options,
                                                                            OrtPrepackedWeightsContainer* weights, OrtSession** out) {
  return create_from_bytes(env, data, bytes, options, weights, out);
}

void ORT_API_CALL ReleaseSession(OrtSession* session) { delete session; }

// Inputs, outputs and initializers that may be given as inputs

OrtStatus* ORT_API_CALL SessionGetInputCount(const OrtSession* session, size_t* out) {
  return guard([&] { checked(out, "out") = inputs_of(session).size(); });
}

OrtStatus* ORT_API_CALL SessionGetOutputCount(const OrtSession* session, size_t* out) {
  return guard([&] { checked(out, "out") = outputs_of(session).size(); });
}

OrtStatus* ORT_API_CALL SessionGetOverridableInitializerCount(const OrtSession* session, size_t* out) {
  return guard([&] { checked(out, "out") = initializers_of(session).size(); });
}

OrtStatus* ORT_API_CALL SessionGetInputTypeInfo(const OrtSession* session, size_t index, OrtTypeInfo** out) {
  return guard([&] { return type_of(entry(inputs_of(session), index, "input"), out); });
}

OrtStatus* ORT_API_CALL SessionGetOutputTypeInfo(const OrtSession* session, size_t index, OrtTypeInfo** out) {
  return guard([&] { return type_of(entry(outputs_of(session), index, "output"), out); });
}

OrtStatus* ORT_API_CALL SessionGetOverridableInitializerTypeInfo(const OrtSession* session, size_t index, OrtTypeInfo** out) {
  return guard([&] { return type_of(entry(initializers_of(session), index, "overridable initializer"), out); });
}

OrtStatus* ORT_API_CALL SessionGetInputName(const OrtSession* session, size_t index, OrtAllocator* allocator, char** out) {
  return guard([&] { return name_of(entry(inputs_of(session), index, "input"), allocator, out); });
}

OrtStatus* ORT_API_CALL SessionGetOutputName(const OrtSession* session, size_t index, OrtAllocator* allocator, char** out) {
  return guard([&] { return name_of(entry(outputs_of(session), index, "output"), allocator, out); });
}

OrtStatus* ORT_API_CALL SessionGetOverridableInitializerName(const OrtSession* session, size_t index, OrtAllocator* allocator, char** out) {
  return guard([&] { return name_of(entry(initializers_of(session), index, "overridable initializer"), allocator, out); });
}

// Memory

OrtStatus* ORT_API_CALL CreateAllocator(const OrtSession* session, const OrtMemoryInfo* info, OrtAllocator** out) {
  return guard([&] {
    session_of(session);
    OrtAllocator*& result = checked(out, "out");
    if (checked(info, "mem_info").device != abi::host_memory_info().device) {
      result = device_allocator(*session, *info);
      if (result) return;
      fail(ErrorCode::invalid_argument, "the session has no allocator for memory '{}'", info->name);
    }
    const SessionOptions& options = session_of(session).options();
    if (const auto arena = std::dynamic_pointer_cast<Arena>(options.host_memory)) {
      result = abi::new_arena_allocator(abi::host_memory_info(OrtArenaAllocator), arena);
    } else if (OrtAllocator* registered = options.host_memory ? const_cast<OrtEnv&>(*session->env).find_allocator(*info) : nullptr) {
      result = registered;  // the environment's, which its owner releases
    } else if (options.cpu_arena) {
      result = abi::new_arena_allocator(abi::host_memory_info(OrtArenaAllocator), session->arena_for_callers());
    } else {
      result = abi::new_host_allocator(abi::host_memory_info());
    }
  });
}

OrtStatus* ORT_API_CALL SessionGetMemoryInfoForInputs(const OrtSession* session, const OrtMemoryInfo** infos, size_t count) {
  return guard([&] { fill(session, &Session::input_devices, "inputs", memory_info_of, infos, count); });
}

OrtStatus* ORT_API_CALL SessionGetMemoryInfoForOutputs(const OrtSession* session, const OrtMemoryInfo** infos, size_t count) {
  return guard([&] { fill(session, &Session::output_devices, "outputs", memory_info_of, infos, count); });
}

OrtStatus* ORT_API_CALL SessionGetEpDeviceForInputs(const OrtSession* session, const OrtEpDevice** devices, size_t count) {
  return guard([&] { fill(session, &Session::input_devices, "inputs", ep_device_of, devices, count); });
}

OrtStatus* ORT_API_CALL SessionGetEpDeviceForOutputs(const OrtSession* session, const OrtEpDevice** devices, size_t count) {
  return guard([&] { fill(session, &Session::output_devices, "outputs", ep_device_of, devices, count); });
}

OrtStatus* ORT_API_CALL SessionReleaseCapturedGraph(OrtSession* session, int number) {
  return guard([&] { return session_of(session).forget_recording(number); });
}

// Profiling

OrtStatus* ORT_API_CALL SessionEndProfiling(OrtSession* session, OrtAllocator* allocator, char** out) {
  return guard([&] {
    char*& result = checked(out, "out");
    result = abi::copy_string(checked(allocator, "allocator"), session_of(session).end_profiling());
  });
}

OrtStatus* ORT_API_CALL SessionGetProfilingStartTimeNs(const OrtSession* session, uint64_t* out) {
  return guard([&] { checked(out, "out") = session_of(session).profiling_start_ns(); });
}

}  // namespace rh::capi
