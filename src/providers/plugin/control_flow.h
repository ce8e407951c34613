#pragma once

#include "providers/device.h"
#include "providers/plugin/kernel_info.h"

namespace rh::plugin {

/// Kernels for If, Loop and Scan that a plugin's registry may hold: the subgraphs run where partitioning placed their nodes, and values go
/// from iteration to iteration in the plugin's memory. The helper, which the kernel takes over, does what needs the device. Conditions and
/// trip counts are read on the host. Throws Error where the node is of another operator or the helper lacks a function.
OrtKernelImpl* make_if_kernel(const OrtKernelInfo& info);
OrtKernelImpl* make_loop_kernel(const OrtKernelInfo& info, OrtLoopKernelHelper& helper);
OrtKernelImpl* make_scan_kernel(const OrtKernelInfo& info, OrtScanKernelHelper& helper);

}  // namespace rh::plugin
