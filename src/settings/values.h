#pragma once

#include <map>
#include <string>
#include <vector>

#include "settings/rules.h"
#include "tensor/tensor.h"

namespace rh {

/// Processors by thread.
using ProcessorSets = std::vector<std::vector<int>>;
using ShapesByName = std::map<std::string, std::vector<int64_t>>;

/// Texts of a form of their own. Each throws Error for another form.
namespace setting {

/// "1,2;3-6", numbers from 1 on.
ProcessorSets processor_sets(Entry entry);
/// "x:[1,3];y:[5]".
ShapesByName shapes_by_name(Entry entry);
/// "cpu:0;gpu:0"; "cpu" is "cpu:0".
std::vector<Device> devices_in(Entry entry);
/// Names with commas or semicolons between them.
std::vector<std::string> name_list(Entry entry);
/// The number that the text begins with; 0 where there is none.
size_t leading_number(Entry entry);
/// "device(prefix,=exact);device(prefix)": which nodes go to which device. The text itself, which devices read.
std::string layer_assignment(Entry entry);
/// "node:max_resident_slots=2,device_expert_bytes=4096;node:...": for devices that keep experts outside their memory.
NoField node_overrides(Entry entry);

}  // namespace setting

}  // namespace rh
