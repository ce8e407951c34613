#include "stands/cuda/driver/capture.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "stands/cuda/driver/handles.h"

namespace rh::stand {
namespace {

constexpr CUresult kIllegalState = 401;

// All captures under way; one lock for them, the streams' and the events' part in them.
struct Captures {
  std::mutex mutex;
  std::vector<std::unique_ptr<Capture>> all;
};
Captures& captures() {
  static auto* everything = new Captures;
  return *everything;
}

thread_local unsigned mode_of_thread = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult invalidate(Capture& capture, CUresult error) {
  capture.invalid = true;
  return error;
}

void add_missing(std::vector<size_t>& to, const std::vector<size_t>& from) {
  for (size_t n : from)
    if (std::find(to.begin(), to.end(), n) == to.end()) to.push_back(n);
}

// Whether every stream's last nodes come before those of the origin.
bool all_joined(const Capture& capture) {
  auto before = ancestors(*capture.graph);
  const auto& ends = capture.tips.at(capture.origin);
  for (const auto& [stream, tips] : capture.tips)
    for (size_t tip : tips) {
      bool joined = std::any_of(ends.begin(), ends.end(), [&](size_t end) { return end == tip || before[end][tip]; });
      if (!joined) return false;
    }
  return true;
}

}  // namespace

CUresult begin_capture(CUstream stream, unsigned mode) {
  std::lock_guard lock(captures().mutex);
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  if (stream->device->null_stream_is_used() && stream == stream->device->null_stream()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream->capture) return kIllegalState;
  captures().all.push_back(std::make_unique<Capture>(stream, mode));
  stream->capture = captures().all.back().get();
  stream->capture->tips[stream] = {};
  return CUDA_SUCCESS;
}

CUresult end_capture(CUstream stream, CUgraph* graph) {
  std::lock_guard lock(captures().mutex);
  *graph = nullptr;
  Capture* capture = stream->capture;
  if (!capture) return kIllegalState;
  if (capture->origin != stream) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  CUresult result = capture->invalid       ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                    : all_joined(*capture) ? CUDA_SUCCESS
                                           : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  if (!result) *graph = handles<CUgraph_st>().add(capture->graph.release());
  for (auto& [member, tips] : capture->tips) member->capture = nullptr;
  for (CUevent e : handles<CUevent_st>().all())
    if (e->capture == capture) e->capture = nullptr;
  std::erase_if(captures().all, [&](const auto& c) { return c.get() == capture; });
  return result;
}

unsigned capture_status(CUstream stream) {
  std::lock_guard lock(captures().mutex);
  if (!stream->capture) return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

unsigned exchange_capture_mode(unsigned mode) { return std::exchange(mode_of_thread, mode); }

CUresult capture_operation(CUstream stream, const Operation& operation, bool* captured) {
  std::lock_guard lock(captures().mutex);
  Capture* capture = stream->capture;
  if (!capture) {
    if (captures().all.empty() || (stream->flags & CU_STREAM_NON_BLOCKING) || !stream->device->null_stream_is_used() ||
        stream != stream->device->null_stream())
      return CUDA_SUCCESS;
    for (auto& c : captures().all)  // the null stream would have to wait for a stream that captures
      for (auto& [member, tips] : c->tips)
        if (!(member->flags & CU_STREAM_NON_BLOCKING) && member->device == stream->device)
          return invalidate(*c, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    return CUDA_SUCCESS;
  }
  *captured = true;
  if (capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  auto& tips = capture->tips[stream];
  capture->graph->nodes.push_back(std::make_shared<CUgraphNode_st>(CUgraphNode_st{operation, tips}));
  tips = {capture->graph->nodes.size() - 1};
  return CUDA_SUCCESS;
}

CUresult capture_record(CUevent event, CUstream stream, bool* captured) {
  std::lock_guard lock(captures().mutex);
  event->capture = stream->capture;
  if (!stream->capture) return CUDA_SUCCESS;
  *captured = true;
  if (stream->capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  event->captured_after = stream->capture->tips[stream];
  return CUDA_SUCCESS;
}

CUresult capture_wait(CUstream stream, CUevent event, bool* captured) {
  std::lock_guard lock(captures().mutex);
  Capture *theirs = event->capture, *ours = stream->capture;
  if (!theirs && !ours) return CUDA_SUCCESS;
  *captured = true;
  if (!theirs) return event->mark ? invalidate(*ours, CUDA_ERROR_STREAM_CAPTURE_ISOLATION) : CUDA_SUCCESS;
  if (theirs->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (ours && ours != theirs) {
    invalidate(*ours, 0);
    return invalidate(*theirs, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  stream->capture = theirs;
  add_missing(theirs->tips[stream], event->captured_after);
  return CUDA_SUCCESS;
}

CUresult refuse_in_capture() {
  std::lock_guard lock(captures().mutex);
  if (mode_of_thread == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  for (auto& c : captures().all) {
    bool own = c->thread == std::this_thread::get_id() && c->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    bool anyones = c->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && mode_of_thread == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (own || anyones) return invalidate(*c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  return CUDA_SUCCESS;
}

CUresult refuse_if_captured(CUstream stream) {
  std::lock_guard lock(captures().mutex);
  return stream->capture ? invalidate(*stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) : CUDA_SUCCESS;
}

CUresult refuse_if_captured(CUevent event) {
  std::lock_guard lock(captures().mutex);
  return event->capture ? invalidate(*event->capture, CUDA_ERROR_CAPTURED_EVENT) : CUDA_SUCCESS;
}

CUresult refuse_if_any_captures(Device& device) {
  std::lock_guard lock(captures().mutex);
  for (auto& c : captures().all)
    if (c->origin->device == &device) return invalidate(*c, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  return CUDA_SUCCESS;
}

void forget_stream(CUstream stream) {
  std::lock_guard lock(captures().mutex);
  Capture* capture = stream->capture;
  if (!capture) return;
  capture->invalid = true;
  if (capture->origin != stream) {
    capture->tips.erase(stream);
    return;
  }
  for (auto& [member, tips] : capture->tips) member->capture = nullptr;
  for (CUevent e : handles<CUevent_st>().all())
    if (e->capture == capture) e->capture = nullptr;
  std::erase_if(captures().all, [&](const auto& c) { return c.get() == capture; });
}

}  // namespace rh::stand
