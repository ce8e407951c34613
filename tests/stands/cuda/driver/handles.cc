#include "stands/cuda/driver/handles.h"

#include "stands/cuda/driver/device.h"
#include "stands/cuda/driver/graph.h"
#include "stands/cuda/driver/module.h"
#include "stands/cuda/driver/stream.h"

namespace rh::stand {

void destroy_stream(CUstream stream) {
  Device& device = *stream->device;
  {
    std::lock_guard lock(device.mutex);
    std::erase(device.streams, stream);
  }
  stream->queue->end();  // what is in it will be done
  delete stream;
}

void destroy_module(CUmodule module) {
  close_module(*module);
  delete module;
}

void drop_handles_of(Device& device) {
  for (auto* e : handles<CUevent_st>().all())
    if (e->device == &device && handles<CUevent_st>().remove(e)) delete e;
  for (auto* g : handles<CUgraphExec_st>().all())
    if (g->device == &device && handles<CUgraphExec_st>().remove(g)) delete g;
  for (auto* s : handles<CUstream_st>().all())
    if (s->device == &device && handles<CUstream_st>().remove(s)) destroy_stream(s);
  for (auto* m : handles<CUmod_st>().all())
    if (m->device == &device && handles<CUmod_st>().remove(m)) destroy_module(m);
}

}  // namespace rh::stand
