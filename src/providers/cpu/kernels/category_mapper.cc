#include "ops/ml/category_mapper.h"

#include <string>
#include <unordered_map>

#include "providers/cpu/kernel.h"

namespace rh::cpu {

class CategoryMapperKernel final : public Kernel {
 public:
  using Types = rh::Types<std::string, int64_t>;

  explicit CategoryMapperKernel(const KernelInfo& info) : op_(info.attributes<ops::CategoryMapper>()) {
    for (size_t i = 0; i < op_.strings.size(); ++i) {
      integer_of_.insert_or_assign(op_.strings[i], op_.integers[i]);
      string_of_.insert_or_assign(op_.integers[i], op_.strings[i]);
    }
  }

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    if (x.dtype() == DType::string) return map(x, context.output(0, DType::int64, x.shape()), integer_of_, op_.default_integer);
    return map(x, context.output(0, DType::string, x.shape()), string_of_, op_.default_string);
  }

 private:
  template <typename From, typename To>
  static Status map(const TensorView& x, const MutableView& y, const std::unordered_map<From, To>& known, const To& otherwise) {
    for (int64_t i = 0; i < x.elements(); ++i) {
      const auto at = known.find(x.data<From>()[i]);
      y.data<To>()[i] = at == known.end() ? otherwise : at->second;
    }
    return {};
  }

  ops::CategoryMapper op_;
  std::unordered_map<std::string, int64_t> integer_of_;
  std::unordered_map<int64_t, std::string> string_of_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(CategoryMapperKernel)
