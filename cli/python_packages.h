#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace rh::cli {

/// The Python packages of a folder that bring Roundhouse or have ONNX Runtime's names: `packages` with name, version and whether they are
/// `ours`; `import_onnxruntime`, whose modules a program gets ("Roundhouse", "ONNX Runtime" or empty); and where several lay out the same
/// files, or not theirs are there, `verdict` and `remedy`. Null where the folder has no package `roundhouse`.
nlohmann::json find_python_packages(const std::filesystem::path& folder);

/// The same of the folder that this command was installed into.
nlohmann::json find_own_python_packages();

}  // namespace rh::cli
