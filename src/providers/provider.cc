#include "providers/provider.h"

#include "passes/driver/pass.h"

namespace rh {

std::string_view to_string(RefusalCode code) {
  switch (code) {
    case RefusalCode::op: return "op";
    case RefusalCode::opset: return "opset";
    case RefusalCode::type: return "type";
    case RefusalCode::shape: return "shape";
    case RefusalCode::attribute: return "attribute";
    case RefusalCode::layout: return "layout";
    case RefusalCode::claimed_earlier: return "claimed_earlier";
    case RefusalCode::unit: return "unit";
    case RefusalCode::cost: return "cost";
    case RefusalCode::forced: return "forced";
    case RefusalCode::unstated: break;
  }
  return "unstated";
}

std::span<const Pass> Provider::passes() const { return {}; }

std::vector<std::unique_ptr<Kernel>> Provider::compile(std::span<const Unit* const> units) {
  if (units.empty()) return {};
  fail(ErrorCode::not_implemented, "{} compiles no nodes, but claimed some as a unit", name());
}

Status Provider::replay(int number) { return error_status(ErrorCode::not_implemented, "{} has no recording {}", name(), number); }

Tensor device_tensor(const std::shared_ptr<Provider>& provider, DType dtype, const Shape& shape) {
  void* memory = provider->allocator().allocate(bytes_of(dtype, shape.elements()));
  std::shared_ptr<const void> owner(memory, [provider](const void* p) { provider->allocator().deallocate(const_cast<void*>(p)); });
  return Tensor(dtype, shape, memory, std::move(owner), provider->device());
}

}  // namespace rh
