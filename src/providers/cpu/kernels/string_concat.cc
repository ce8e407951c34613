#include "ops/text/string_concat.h"

#include "providers/cpu/broadcast.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class StringConcatKernel final : public Kernel {
 public:
  using Types = rh::Types<std::string>;

  explicit StringConcatKernel(const KernelInfo&) {}

  Status run(RunContext& context) const override {
    const TensorView a = context.input(0), b = context.input(1);
    const Shape shape = broadcast(a.shape(), b.shape());
    std::string* out = context.output(0, shape).data<std::string>();
    const Shape* inputs[] = {&a.shape(), &b.shape()};
    const Broadcast rows(shape, inputs);
    rows.run(context.parallel(), Cost{.bytes = 0, .operations = 50}, [&](int64_t to, const int64_t* from, int64_t count) {
      const std::string *left = a.data<std::string>() + from[0], *right = b.data<std::string>() + from[1];
      for (int64_t i = 0; i < count; ++i) out[to + i] = left[i * rows.step(0)] + right[i * rows.step(1)];
    });
    return {};
  }
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(StringConcatKernel)
