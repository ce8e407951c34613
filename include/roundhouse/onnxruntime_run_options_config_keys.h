// Names of entries in a run's configuration (AddRunConfigEntry). What they do: docs/options.md.
#pragma once

static const char* const kOrtRunOptionsConfigEnableMemoryArenaShrinkage = "memory.enable_memory_arena_shrinkage";
static const char* const kOrtRunOptionsConfigDisableSynchronizeExecutionProviders = "disable_synchronize_execution_providers";
static const char* const kOrtRunOptionsConfigQnnPerfMode = "qnn.htp_perf_mode";
static const char* const kOrtRunOptionsConfigQnnPerfModePostRun = "qnn.htp_perf_mode_post_run";
static const char* const kOrtRunOptionsConfigQnnRpcControlLatency = "qnn.rpc_control_latency";
static const char* const kOrtRunOptionsConfigQnnLoraConfig = "qnn.lora_config";
static const char* const kOrtRunOptionsConfigCudaGraphAnnotation = "gpu_graph_id";
