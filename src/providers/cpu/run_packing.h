#pragma once

#include "base/shared_bytes.h"
#include "providers/kernel.h"

namespace rh::cpu {

/// While it lives, what this thread packs (PackedMatrix, Convolution and the like) lies in working memory of the run, which must outlive
/// it: for weights that come with a run. Frames keep that memory from run to run.
class RunPacking {
 public:
  explicit RunPacking(RunContext& context) : memory_{context}, scope_(PackingScope::of_run(context.parallel(), memory_)) {}

 private:
  struct Memory {
    RunContext& context;
    void* operator()(size_t bytes) { return context.scratch(bytes); }
  };

  Memory memory_;
  const PackingScope scope_;
};

}  // namespace rh::cpu
