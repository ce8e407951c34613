// Stream capture: what is put into the streams of a capture becomes a graph.
#pragma once

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "stands/cuda/driver/graph.h"

namespace rh::stand {

class Capture {
 public:
  Capture(CUstream origin, unsigned mode) : origin(origin), mode(mode) {}

  const CUstream origin;
  const unsigned mode;
  const std::thread::id thread = std::this_thread::get_id();
  bool invalid = false;
  std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
  std::map<CUstream, std::vector<size_t>> tips;  // the last nodes of each stream
};

CUresult begin_capture(CUstream stream, unsigned mode);
// Null in *graph, and an error, where the capture is not valid; it has ended all the same.
CUresult end_capture(CUstream stream, CUgraph* graph);
unsigned capture_status(CUstream stream);
unsigned exchange_capture_mode(unsigned mode);

// Takes the operation into the graph if the stream captures.
CUresult capture_operation(CUstream stream, const Operation& operation, bool* captured);
CUresult capture_record(CUevent event, CUstream stream, bool* captured);
CUresult capture_wait(CUstream stream, CUevent event, bool* captured);
// For calls that may not come while a capture is under way (those that allocate, free, or wait): 900, and the capture is not valid any
// more.
CUresult refuse_in_capture();
// For calls that wait for a stream, an event, or all of a device.
CUresult refuse_if_captured(CUstream stream);
CUresult refuse_if_captured(CUevent event);
CUresult refuse_if_any_captures(Device& device);
// A stream that is destroyed leaves its capture.
void forget_stream(CUstream stream);

}  // namespace rh::stand
