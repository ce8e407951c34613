// Names of entries in the configuration of an environment (OrtEnvCreationOptions).
#pragma once

static const char* const kOrtEnvAllowVirtualDevices = "allow_virtual_devices";
