#include <stdexcept>

#include "peer.h"

namespace rh::cli {

// Another library runs in a process of its own on Linux alone.
Peer::Peer(const std::string&, const std::string&, const SessionSettings&, const std::vector<NamedValue>&) {
  throw std::runtime_error("--peer is not there on Windows: compare with the other library on Linux");
}

Peer::~Peer() = default;
Measurement Peer::measure(const MeasureOptions&) { return {}; }
std::vector<NamedValue> Peer::outputs() { return {}; }
int serve_as_peer() { return 1; }

}  // namespace rh::cli
