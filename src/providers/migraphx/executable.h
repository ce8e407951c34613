#pragma once

#include "providers/migraphx/program.h"

namespace rh::migraphx {

/// Parses a region, and compiles it where its sizes are known. Throws Error with MIGraphX's message.
std::unique_ptr<kit::Executable> make_executable(std::shared_ptr<const Shared> shared, const kit::Region& region);
/// Parses alone. Throws Error where MIGraphX does not take it.
void try_region(const Shared& shared, const kit::Region& region);
/// One that save_executable() wrote down.
std::unique_ptr<kit::Executable> load_executable(std::shared_ptr<const Shared> shared, const kit::Region& region,
                                                 const kit::OwnedBytes& bytes);
/// Of an executable that make_executable() gave. Throws Error.
std::string save_executable(const kit::Executable& executable);
/// Whether it has sizes that runs bring.
bool has_open_sizes(const kit::Executable& executable);

}  // namespace rh::migraphx
