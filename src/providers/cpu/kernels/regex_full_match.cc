#include "ops/text/regex_full_match.h"

#include "base/regex.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class RegexFullMatchKernel final : public Kernel {
 public:
  using Types = rh::Types<std::string>;

  explicit RegexFullMatchKernel(const KernelInfo& info) : regex_(info.attributes<ops::RegexFullMatch>().pattern) {}

  Status run(RunContext& context) const override {
    const TensorView x = context.input(0);
    bool* out = context.output(0, x.shape()).data<bool>();
    const std::string* texts = x.data<std::string>();
    context.parallel().for_range(x.elements(), Cost{.bytes = 0, .operations = 500}, [&](Range range) {
      for (int64_t i = range.begin; i < range.end; ++i) out[i] = regex_.matches_all(texts[i]);
    });
    return {};
  }

 private:
  Regex regex_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(RegexFullMatchKernel)
