#pragma once

#include <cstddef>
#include <span>
#include <string_view>

/// What the fuzz targets do with one input. An Error is an answer; anything else ends the program.
namespace rh::fuzz {

/// Reads the bytes as a model and makes a session of it. What can be read can be written, unless the writer says why not.
void load_model(std::span<const std::byte> bytes);

/// Makes a session of the bytes and runs it, twice, on the tensors in field kInputField of the model, by name. Inputs that have none there
/// get one of their declared type. True where both runs gave results.
bool run_model(std::span<const std::byte> bytes);

/// Reads the text form of a graph. What can be read is printed so that it reads as the same again; a sound graph stays sound through the
/// passes.
void read_graph_text(std::string_view text);

}  // namespace rh::fuzz
