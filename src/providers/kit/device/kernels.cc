#include "providers/kit/device/kernels.h"

#include "providers/kit/device/device_tables.h"
#include "providers/kit/host/host_run.h"
#include "tensor/interface_types.h"

namespace rh::kit {

namespace {

struct KernelTable : OrtKernelImpl {
  KernelTable(const Host& of, std::shared_ptr<ListedDevice> on, uint64_t inputs_on_host, std::unique_ptr<Executable> made)
      : OrtKernelImpl{}, host(of), device(std::move(on)), executable(std::move(made)) {
    for (size_t i = 0; i < 64; ++i) host_inputs.push_back((inputs_on_host >> i & 1) != 0);
    ort_version_supported = host.version;
    Compute = [](OrtKernelImpl* self, OrtKernelContext* context) {
      const auto& table = *static_cast<KernelTable*>(self);
      return guard(*table.host.api, [&] {
        HostRun call(table.host, *context, table.device.get(), table.host_inputs);
        table.executable->run(call.inputs(), call);
      });
    };
    Release = [](OrtKernelImpl* self) { delete static_cast<KernelTable*>(self); };
  }

  Host host;
  std::shared_ptr<ListedDevice> device;
  std::vector<bool> host_inputs;
  std::unique_ptr<Executable> executable;
};

/// Copies its input on the run's stream.
class CopyKernel final : public Executable {
 public:
  CopyKernel(std::shared_ptr<DeviceDriver> driver, CopyKind kind) : driver_(std::move(driver)), kind_(kind) {}
  void run(std::span<const TensorView> inputs, RunOutputs& outputs) const override {
    const TensorView& from = inputs[0];
    const MutableView to = outputs.make(0, from.shape());
    if (from.bytes() > 0) driver_->copy(to.raw(), from.raw(), from.bytes(), kind_, outputs.stream());
  }

 private:
  std::shared_ptr<DeviceDriver> driver_;
  CopyKind kind_;
};

KernelRow copy_row(const char* name, const std::shared_ptr<ListedDevice>& device, CopyKind kind) {
  std::vector<DType> all;
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto dtype = static_cast<DType>(number);
    if (dtype != DType::string && interface_number(dtype) != 0) all.push_back(dtype);
  }
  KernelRow row{name, "", 1, 1, {{"T", std::move(all)}}, {}};
  row.make = [device, kind] { return std::make_unique<CopyKernel>(device->driver(), kind); };
  (kind == CopyKind::to_device ? row.host_inputs : row.host_outputs) = 1;
  return row;
}

void set_host_memory(const Host& host, OrtKernelDefBuilder& builder, const KernelRow& row) {
  for (size_t i = 0; i < 64; ++i) {
    if (row.host_inputs >> i & 1) check(host, host.ep->KernelDefBuilder_SetInputMemType(&builder, i, OrtMemTypeCPUInput));
    if (row.host_outputs >> i & 1) check(host, host.ep->KernelDefBuilder_SetOutputMemType(&builder, i, OrtMemTypeCPUOutput));
  }
}

}  // namespace

Kernels::Kernels(const Host& host, const char* provider, std::shared_ptr<ListedDevice> device, std::vector<KernelRow> rows)
    : host_(host), device_(std::move(device)) {
  if (device_) {
    for (const auto& [name, kind] : {std::pair("MemcpyFromHost", CopyKind::to_device), {"MemcpyToHost", CopyKind::to_host}}) {
      entries_.push_back(std::make_unique<Entry>(Entry{this, copy_row(name, device_, kind)}));
    }
  }
  for (KernelRow& row : rows) entries_.push_back(std::make_unique<Entry>(Entry{this, std::move(row)}));
  if (entries_.empty()) return;
  check(host_, host_.ep->CreateKernelRegistry(&registry_));
  for (const auto& entry : entries_) add(provider, *entry);
}

Kernels::~Kernels() {
  if (registry_) host_.ep->ReleaseKernelRegistry(registry_);
}

void Kernels::add(const char* provider, Entry& entry) {
  const OrtEpApi& ep = *host_.ep;
  const KernelRow& row = entry.row;
  OrtKernelDefBuilder* builder = nullptr;
  check(host_, ep.CreateKernelDefBuilder(&builder));
  const std::unique_ptr<OrtKernelDefBuilder, void(ORT_API_CALL*)(OrtKernelDefBuilder*)> owner(builder, ep.ReleaseKernelDefBuilder);
  check(host_, ep.KernelDefBuilder_SetOperatorType(builder, row.op_type.c_str()));
  check(host_, ep.KernelDefBuilder_SetDomain(builder, row.domain.c_str()));
  check(host_, ep.KernelDefBuilder_SetSinceVersion(builder, row.since_start, row.since_end));
  check(host_, ep.KernelDefBuilder_SetExecutionProvider(builder, provider));
  for (const auto& [name, dtypes] : row.types) {
    std::vector<const OrtDataType*> types;
    for (const DType dtype : dtypes) {
      const OrtDataType* type = nullptr;
      OrtStatus* status = ep.GetTensorDataType(static_cast<ONNXTensorElementDataType>(interface_number(dtype)), &type);
      if (status) host_.api->ReleaseStatus(status);  // an element type that the host does not know
      if (type) types.push_back(type);
    }
    check(host_, ep.KernelDefBuilder_AddTypeConstraint(builder, name.c_str(), types.data(), types.size()));
  }
  set_host_memory(host_, *builder, row);
  OrtKernelDef* def = nullptr;
  check(host_, ep.KernelDefBuilder_Build(builder, &def));
  const std::unique_ptr<OrtKernelDef, void(ORT_API_CALL*)(OrtKernelDef*)> def_owner(def, ep.ReleaseKernelDef);
  const OrtKernelCreateFunc create = [](void* state, const OrtKernelInfo*, OrtKernelImpl** out) {
    const auto& made_from = *static_cast<const Entry*>(state);
    const Kernels& kernels = *made_from.owner;
    return guard(*kernels.host().api,
                 [&] { *out = new KernelTable(kernels.host(), kernels.device(), made_from.row.host_inputs, made_from.row.make()); });
  };
  check(host_, ep.KernelRegistry_AddKernel(registry_, def, create, &entry));
}

}  // namespace rh::kit
