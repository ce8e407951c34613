// Captures and graphs.

#include "stands/cuda/common/settings.h"
#include "stands/cuda/driver/capture.h"
#include "stands/cuda/driver/current.h"

using namespace rh::stand;

RH_STAND_DRIVER(cuStreamBeginCapture_v2, (CUstream handle, unsigned mode), (handle, mode)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  return begin_capture(stream, mode);
}
RH_STAND_DRIVER(cuStreamEndCapture, (CUstream handle, CUgraph* graph), (handle, graph)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  if (!graph) return CUDA_ERROR_INVALID_VALUE;
  return end_capture(stream, graph);
}
RH_STAND_DRIVER(cuStreamIsCapturing, (CUstream handle, unsigned* status), (handle, status)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  *status = capture_status(stream);
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuStreamGetCaptureInfo_v2,
                (CUstream handle, unsigned* status, uint64_t* id, CUgraph* graph, const CUgraphNode** nodes, size_t* count),
                (handle, status, id, graph, nodes, count)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  if (!status) return CUDA_ERROR_INVALID_VALUE;
  *status = capture_status(stream);
  Capture* capture = *status ? stream->capture : nullptr;
  if (id) *id = reinterpret_cast<uintptr_t>(capture);
  if (graph) *graph = capture ? capture->graph.get() : nullptr;
  if (nodes) *nodes = nullptr;
  if (count) *count = 0;
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuThreadExchangeStreamCaptureMode, (unsigned* mode), (mode)) {
  if (!mode || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  *mode = exchange_capture_mode(*mode);
  return CUDA_SUCCESS;
}

RH_STAND_DRIVER(cuGraphInstantiateWithFlags, (CUgraphExec * exec, CUgraph graph, uint64_t flags), (exec, graph, flags)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!exec) return CUDA_ERROR_INVALID_VALUE;
  if (!handles<CUgraph_st>().has(graph)) return CUDA_ERROR_INVALID_HANDLE;
  *exec = handles<CUgraphExec_st>().add(instantiate(*device, *graph).release());
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuGraphLaunch, (CUgraphExec exec, CUstream handle), (exec, handle)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  if (!handles<CUgraphExec_st>().has(exec) || exec->device != stream->device) return CUDA_ERROR_INVALID_HANDLE;
  RH_STAND_TRY(refuse_if_captured(stream));
  launch_graph(*exec, stream, order_setting());
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuGraphUpload, (CUgraphExec exec, CUstream handle), (exec, handle)) {
  CUstream stream = nullptr;
  RH_STAND_TRY(find_stream(handle, &stream));
  return handles<CUgraphExec_st>().has(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
RH_STAND_DRIVER(cuGraphExecDestroy, (CUgraphExec exec), (exec)) {
  Device* device = nullptr;
  RH_STAND_TRY(current_device(&device));
  if (!handles<CUgraphExec_st>().remove(exec)) return CUDA_ERROR_INVALID_HANDLE;
  delete exec;
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuGraphDestroy, (CUgraph graph), (graph)) {
  if (!handles<CUgraph_st>().remove(graph)) return CUDA_ERROR_INVALID_HANDLE;
  delete graph;
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuGraphGetNodes, (CUgraph graph, CUgraphNode* nodes, size_t* count), (graph, nodes, count)) {
  if (!handles<CUgraph_st>().has(graph)) return CUDA_ERROR_INVALID_HANDLE;
  if (!count) return CUDA_ERROR_INVALID_VALUE;
  if (nodes)
    for (size_t i = 0; i < *count; ++i) nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
  if (!nodes || *count > graph->nodes.size()) *count = graph->nodes.size();
  return CUDA_SUCCESS;
}
RH_STAND_DRIVER(cuGraphNodeGetType, (CUgraphNode node, int* type), (node, type)) {
  if (!node || !type) return CUDA_ERROR_INVALID_VALUE;
  *type = static_cast<int>(node->operation.kind);
  return CUDA_SUCCESS;
}
