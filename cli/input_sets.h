#pragma once

#include <string>
#include <vector>

namespace rh::cli {

/// The files that go into one run.
struct InputSet {
  std::string name;
  std::vector<std::string> inputs;    ///< as --input takes them
  std::vector<std::string> expected;  ///< the values that the outputs should have, in order; .pb files
};

/// A folder of sets: each folder in it is one, and where it has none it is one itself. Files named input_0, input_1, ... go to the inputs
/// in order (output_0, ... are what is expected of the outputs), other files to the input of their name. Throws std::runtime_error where
/// nothing is found.
std::vector<InputSet> input_sets(const std::string& folder);

/// A set for each image in a folder.
std::vector<InputSet> image_sets(const std::string& folder);

}  // namespace rh::cli
