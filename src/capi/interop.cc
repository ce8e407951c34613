// Memory and semaphores of graphics interfaces, imported by providers.
#include <memory>

#include "capi/guard.h"
#include "capi/plugins.h"
#include "capi/table.h"
#include "providers/plugin/call.h"

/// A plugin's importer; keeps the plugin's library.
struct OrtExternalResourceImporter {
  OrtExternalResourceImporter(std::string name, std::shared_ptr<rh::plugin::Library> owner, OrtExternalResourceImporterImpl& made)
      : provider(std::move(name)), library(std::move(owner)), impl(made) {}
  ~OrtExternalResourceImporter() {
    if (RH_HAS(impl, 24, Release)) rh::plugin::tell([&] { impl.Release(&impl); });
  }
  OrtExternalResourceImporter(const OrtExternalResourceImporter&) = delete;
  OrtExternalResourceImporter& operator=(const OrtExternalResourceImporter&) = delete;

  std::string provider;
  std::shared_ptr<rh::plugin::Library> library;
  OrtExternalResourceImporterImpl& impl;
};

namespace rh::capi::interop {

namespace {

[[noreturn]] void lacks(const OrtExternalResourceImporter& importer, const char* function) {
  fail(ErrorCode::not_implemented, "{}: its OrtExternalResourceImporterImpl has no {}", importer.provider, function);
}

OrtEpFactory& factory_of(const OrtEpDevice& device) {
  if (!device.factory) fail(ErrorCode::invalid_argument, "device of '{}': the CPU provider has no plugin library", device.ep_name);
  return *device.factory;
}

}  // namespace

/// Calls a function of the importer that its version has.
#define RH_IMPORT(importer, function, ...)                                                 \
  do {                                                                                     \
    if (!RH_HAS((importer).impl, 24, function)) lacks(importer, #function);                \
    plugin::call((importer).provider, "OrtExternalResourceImporterImpl::" #function,       \
                 [&] { return (importer).impl.function(&(importer).impl, __VA_ARGS__); }); \
  } while (false)

OrtStatus* ORT_API_CALL CreateExternalResourceImporterForDevice(const OrtEpDevice* device, OrtExternalResourceImporter** out) {
  return guard([&] {
    checked(out, "out_importer") = nullptr;
    const OrtEpDevice& source = checked(device, "ep_device");
    OrtEpFactory& factory = factory_of(source);
    OrtExternalResourceImporterImpl* made = nullptr;
    if (RH_HAS(factory, 24, CreateExternalResourceImporterForDevice)) {
      plugin::call(source.ep_name, "OrtEpFactory::CreateExternalResourceImporterForDevice",
                   [&] { return factory.CreateExternalResourceImporterForDevice(&factory, device, &made); });
    }
    if (!made) fail(ErrorCode::not_implemented, "provider '{}' imports no external resources", source.ep_name);
    const OrtEnv* env = abi::current_env();
    *out = new OrtExternalResourceImporter(source.ep_name, env ? libraries_of(*env).library_of(source) : nullptr, *made);
  });
}

void ORT_API_CALL ReleaseExternalResourceImporter(OrtExternalResourceImporter* importer) { delete importer; }

OrtStatus* ORT_API_CALL CanImportMemory(const OrtExternalResourceImporter* importer, OrtExternalMemoryHandleType type, bool* out) {
  return guard([&] {
    const OrtExternalResourceImporterImpl& impl = checked(importer, "importer").impl;
    checked(out, "out_supported") =
        RH_HAS(impl, 24, CanImportMemory) && plugin::ask(false, [&] { return impl.CanImportMemory(&impl, type); });
  });
}

OrtStatus* ORT_API_CALL ImportMemory(OrtExternalResourceImporter* importer, const OrtExternalMemoryDescriptor* descriptor,
                                     OrtExternalMemoryHandle** out) {
  return guard([&] {
    checked(out, "out_handle") = nullptr;
    const OrtExternalMemoryDescriptor& given = checked(descriptor, "desc");
    if (given.offset_bytes > given.size_bytes) {
      fail(ErrorCode::invalid_argument, "the memory begins at byte {} of {}", given.offset_bytes, given.size_bytes);
    }
    RH_IMPORT(checked(importer, "importer"), ImportMemory, descriptor, out);
  });
}

void ORT_API_CALL ReleaseExternalMemoryHandle(OrtExternalMemoryHandle* handle) {
  if (handle && handle->Release) plugin::tell([&] { handle->Release(handle); });
}

OrtStatus* ORT_API_CALL CreateTensorFromMemory(OrtExternalResourceImporter* importer, const OrtExternalMemoryHandle* memory,
                                               const OrtExternalTensorDescriptor* tensor, OrtValue** out) {
  return guard([&] {
    checked(out, "out_tensor") = nullptr;
    checked(memory, "mem_handle");
    checked_array(checked(tensor, "tensor_desc").shape, tensor->rank, "tensor_desc.shape");
    RH_IMPORT(checked(importer, "importer"), CreateTensorFromMemory, memory, tensor, out);
  });
}

OrtStatus* ORT_API_CALL CanImportSemaphore(const OrtExternalResourceImporter* importer, OrtExternalSemaphoreType type, bool* out) {
  return guard([&] {
    const OrtExternalResourceImporterImpl& impl = checked(importer, "importer").impl;
    checked(out, "out_supported") =
        RH_HAS(impl, 24, CanImportSemaphore) && plugin::ask(false, [&] { return impl.CanImportSemaphore(&impl, type); });
  });
}

OrtStatus* ORT_API_CALL ImportSemaphore(OrtExternalResourceImporter* importer, const OrtExternalSemaphoreDescriptor* descriptor,
                                        OrtExternalSemaphoreHandle** out) {
  return guard([&] {
    checked(out, "out_handle") = nullptr;
    checked(descriptor, "desc");
    RH_IMPORT(checked(importer, "importer"), ImportSemaphore, descriptor, out);
  });
}

void ORT_API_CALL ReleaseExternalSemaphoreHandle(OrtExternalSemaphoreHandle* handle) {
  if (handle && handle->Release) plugin::tell([&] { handle->Release(handle); });
}

OrtStatus* ORT_API_CALL WaitSemaphore(OrtExternalResourceImporter* importer, OrtExternalSemaphoreHandle* semaphore, OrtSyncStream* stream,
                                      uint64_t value) {
  return guard([&] {
    checked(semaphore, "semaphore_handle");
    checked(stream, "stream");
    RH_IMPORT(checked(importer, "importer"), WaitSemaphore, semaphore, stream, value);
  });
}

OrtStatus* ORT_API_CALL SignalSemaphore(OrtExternalResourceImporter* importer, OrtExternalSemaphoreHandle* semaphore, OrtSyncStream* stream,
                                        uint64_t value) {
  return guard([&] {
    checked(semaphore, "semaphore_handle");
    checked(stream, "stream");
    RH_IMPORT(checked(importer, "importer"), SignalSemaphore, semaphore, stream, value);
  });
}

#undef RH_IMPORT

OrtStatus* ORT_API_CALL InitGraphicsInteropForEpDevice(const OrtEpDevice* device, const OrtGraphicsInteropConfig* config) {
  return guard([&] {
    const OrtEpDevice& source = checked(device, "ep_device");
    checked(config, "config");
    OrtEpFactory& factory = factory_of(source);
    if (!RH_HAS(factory, 25, InitGraphicsInterop))
      fail(ErrorCode::not_implemented, "provider '{}' shares no command queues", source.ep_name);
    plugin::call(source.ep_name, "OrtEpFactory::InitGraphicsInterop",
                 [&] { return factory.InitGraphicsInterop(&factory, device, config); });
  });
}

OrtStatus* ORT_API_CALL DeinitGraphicsInteropForEpDevice(const OrtEpDevice* device) {
  return guard([&] {
    const OrtEpDevice& source = checked(device, "ep_device");
    OrtEpFactory& factory = factory_of(source);
    if (!RH_HAS(factory, 25, DeinitGraphicsInterop)) {
      fail(ErrorCode::not_implemented, "provider '{}' shares no command queues", source.ep_name);
    }
    plugin::call(source.ep_name, "OrtEpFactory::DeinitGraphicsInterop", [&] { return factory.DeinitGraphicsInterop(&factory, device); });
  });
}

}  // namespace rh::capi::interop
