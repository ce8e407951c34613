#include "ops/ml/category_mapper.h"

#include <bit>
#include <string>
#include <unordered_map>
#include <vector>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class CategoryMapperKernel final : public Kernel {
 public:
  using Types = rh::Types<std::string, int64_t>;

  explicit CategoryMapperKernel(const KernelInfo& info) : op_(info.attributes<ops::CategoryMapper>()) {
    for (size_t i = 0; i < op_.strings.size(); ++i) integer_of_.insert_or_assign(op_.strings[i], op_.integers[i]);
    place_integers();
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    const int64_t count = x.elements();
    if (x.dtype() == DType::string) {
      auto* const y = context.output(0, DType::int64, x.shape()).data<int64_t>();
      for (int64_t i = 0; i < count; ++i) {
        const auto at = integer_of_.find(x.data<std::string>()[i]);
        y[i] = at == integer_of_.end() ? op_.default_integer : at->second;
      }
      return {};
    }
    auto* const y = context.output(0, DType::string, x.shape()).data<std::string>();
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = slots_[slot_of(x.data<int64_t>()[i])];
      y[i] = at < 0 ? op_.default_string : op_.strings[static_cast<size_t>(at)];
    }
    return {};
  }

 private:
  /// Of equal integers the last counts.
  void place_integers() {
    slots_.assign(std::bit_ceil(2 * op_.integers.size() + 1), -1);
    for (size_t i = 0; i < op_.integers.size(); ++i) slots_[slot_of(op_.integers[i])] = static_cast<int64_t>(i);
  }

  /// The slot that holds the integer's place, or an empty one: those from its hash on are looked at in turn.
  size_t slot_of(int64_t integer) const {
    const size_t last = slots_.size() - 1;
    size_t slot = static_cast<size_t>(static_cast<uint64_t>(integer) * 0x9e3779b97f4a7c15u >> 32) & last;
    while (slots_[slot] >= 0 && op_.integers[static_cast<size_t>(slots_[slot])] != integer) slot = (slot + 1) & last;
    return slot;
  }

  ops::CategoryMapper op_;
  std::unordered_map<std::string, int64_t> integer_of_;
  std::vector<int64_t> slots_;  ///< places of integers by their hash, -1 in empty ones; at least half are empty
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CategoryMapperKernel)
