#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "providers/provider.h"

namespace rh::test {

/// How a device for tests behaves.
struct DeviceSetup {
  std::string name = "DeviceExecutionProvider";
  std::set<std::string> ops = {"Add", "Mul", "Relu", "Neg"};  ///< it knows these four, element by element on float
  int16_t id = 0;
  bool compiles = false;                            ///< all that it takes becomes one unit
  bool contexts = false;                            ///< it writes a node for each unit, with the operators that are in it
  bool streams = false;                             ///< work is done later, by a thread of each stream
  std::chrono::microseconds delay{0};               ///< of each piece of work of a stream
  std::function<bool(const Node&)> takes;           ///< in place of `ops`
  std::function<Capability(const Graph&)> answers;  ///< in place of all that
};

/// A provider whose memory the host cannot read: its addresses are no addresses.
std::shared_ptr<Provider> make_device_provider(DeviceSetup setup);

/// Copies between memories that any of these providers made so far.
int64_t device_copies();

}  // namespace rh::test
