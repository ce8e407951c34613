#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

namespace rh::cli {

/// Loads a library of providers in a process of its own, makes a session of each of its providers and runs it, so that a crash or a hang
/// is told and harms nobody: {"verdict": "works", "fails", "crashes" or "hangs", "step": the last one that was begun, "detail": a sentence,
/// "providers": [{"name", "vendor", "version", "devices": [{"type", "vendor"}], "nodes": taken of the trial model, "of"}], "output": the
/// last lines that it printed}.
nlohmann::json probe_plugin(const std::string& library, std::chrono::milliseconds limit);

/// The child: probes the library and writes what it finds to a file descriptor. Returns the exit code.
int serve_as_probe(const char* library, const char* descriptor);
inline constexpr const char* kProbeArgument = "--serve-as-probe";

}  // namespace rh::cli
