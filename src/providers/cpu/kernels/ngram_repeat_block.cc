#include "ops/text/ngram_repeat_block.h"

#include <algorithm>
#include <limits>

#include "providers/cpu/elements.h"
#include "providers/cpu/kernel.h"

namespace rh::cpu {

class NGramRepeatBlockKernel final : public Kernel {
 public:
  using Types = rh::Types<int64_t>;

  explicit NGramRepeatBlockKernel(const KernelInfo& info) : op_(info.attributes<ops::NGramRepeatBlock>()) {}

  Status run(RunContext& context) const override {
    const TensorView tokens = context.input(0), scores = context.input(1);
    if (tokens.rank() != 2 || scores.rank() != 2 || tokens.shape()[0] != scores.shape()[0]) {
      return error_status(ErrorCode::invalid_argument,
                          "NGramRepeatBlock: the inputs have shapes {} and {}, expected [batch, length] and [batch, words]",
                          tokens.shape().to_string(), scores.shape().to_string());
    }
    const int64_t length = tokens.shape()[1], words = scores.shape()[1], before = op_.size - 1;
    const MutableView y = context.output(0, scores.shape());
    copy_elements(scores, y);
    for (int64_t row = 0; row < tokens.shape()[0] && length > before; ++row) {
      const int64_t *ids = tokens.data<int64_t>() + row * length, *last = ids + length - before;
      for (int64_t at = 0; at + before < length; ++at) {
        if (before > 0 && (ids[at] != *last || !std::equal(last + 1, last + before, ids + at + 1))) continue;
        const int64_t word = ids[at + before];
        if (word < 0 || word >= words) {
          return error_status(ErrorCode::invalid_argument, "NGramRepeatBlock: token {} of row {} is {}, expected [0, {})", at + before, row,
                              word, words);
        }
        y.data<float>()[row * words + word] = -std::numeric_limits<float>::infinity();
      }
    }
    return {};
  }

 private:
  ops::NGramRepeatBlock op_;
};

}  // namespace rh::cpu

RH_DEFINE_KERNEL(NGramRepeatBlockKernel)
