#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "graph/check.h"
#include "graph/text_parse.h"
#include "graph/text_print.h"
#include "passes/driver.h"

/// Reads the bytes as the text form of a graph. What can be read is printed so that it reads as the same again; a sound graph stays sound
/// through the passes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const rh::PrintOptions everything{.types = true, .max_elements = -1};
  try {
    const auto graph = rh::parse_graph({reinterpret_cast<const char*>(data), size});
    const std::string text = rh::print(*graph, everything);
    if (rh::print(*rh::parse_graph(text), everything) != text) std::abort();
    rh::check(*graph);
    rh::infer_types(*graph);
    try {
      rh::run_passes(*graph, rh::standard_passes());
      rh::check(*graph);
    } catch (const rh::Error& error) {
      // Inference may refuse more once constants are known; a pass may not break the graph.
      if (error.message().starts_with("pass ")) std::abort();
    }
  } catch (const rh::Error&) {
  }
  return 0;
}
