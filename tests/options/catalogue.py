"""Every key, field and function of the interface that sets something, with values that differ from its default."""

SESSION_KEYS = {
    "ep.context_embed_mode": ["1"],
    "ep.context_enable": ["1"],
    "ep.context_file_path": ["elsewhere_ctx.onnx"],
    "ep.context_model_external_initializers_file_name": ["ctx.bin"],
    "ep.context_node_name_prefix": ["prefix"],
    "ep.context_source_model_path": ["source.onnx"],
    "ep.cpu.qmoe_deferred_scale": ["1"],
    "ep.cuda.fpa_intb_gemm": ["1"],
    "ep.cuda.fpa_intb_profile_m": ["1"],
    "ep.cuda.gqa_workspace_max_total_sequence_length": ["64"],
    "ep.dml.disable_graph_fusion": ["1"],
    "ep.dml.disable_memory_arena": ["1"],
    "ep.dml.enable_cpu_sync_spinning": ["1"],
    "ep.dml.enable_graph_capture": ["1"],
    "ep.dml.enable_graph_serialization": ["1"],
    "ep.enable_weightless": ["1"],
    "ep.enable_weightless_ep_context_nodes": ["1"],
    "ep.enable_weightless_mode": ["1"],
    "ep.nnapi.partitioning_stop_ops": ["MatMul"],
    "ep.share_ep_contexts": ["1"],
    "ep.stop_share_ep_contexts": ["1"],
    "mlas.disable_kleidiai": ["1"],
    "mlas.enable_gemm_fastmath_arm64_bfloat16": ["1"],
    "mlas.kleidiai.conv_igemm_max_work": ["1"],
    "mlas.nchwc_depthwise_sliding": ["1"],
    "mlas.nchwc_pointwise_conv_max_input_channel_batch": ["8"],
    "mlas.qnbit.force_fp32": ["1"],
    "mlas.use_lut_gemm": ["1"],
    "optimization.constant_folding_max_output_size_in_bytes": ["1024"],
    "optimization.disable_specified_optimizers": ["ConstantFolding"],
    "optimization.enable_cast_chain_elimination": ["1"],
    "optimization.enable_gelu_approximation": ["1"],
    "optimization.enable_memory_probe_recompute_config": ["1:1"],
    "optimization.memory_optimizer_config": ["recompute.json"],
    "optimization.minimal_build_optimizations": ["save", "apply"],
    "session.allow_released_opsets_only": ["0"],
    "session.collect_node_memory_stats_to_file": ["memory.csv"],
    "session.compile_only": ["1"],
    "session.debug_layout_transformation": ["1"],
    "session.disable_aot_function_inlining": ["1"],
    "session.disable_cpu_ep_fallback": ["1"],
    "session.disable_double_qdq_remover": ["1"],
    "session.disable_model_compile": ["1"],
    "session.disable_prepacking": ["1"],
    "session.disable_qdq_constant_folding": ["1"],
    "session.disable_quant_qdq": ["1"],
    "session.dynamic_block_base": ["4"],
    "session.enable_cpu_mem_arena": ["0"],
    "session.enable_dq_matmulnbits_fusion": ["1"],
    "session.enable_mem_pattern": ["0"],
    "session.enable_moe_expert_counting": ["1", "2"],
    "session.enable_moe_expert_statistics": ["1", "2"],
    "session.enable_profiling": ["by_key"],
    "session.enable_quant_qdq_cleanup": ["1"],
    "session.enable_saved_runtime_optimizations": ["1"],
    "session.execution_mode": ["parallel"],
    "session.external_data_loader.chunk_bytes": ["8192", "5"],
    "session.external_data_loader.min_size_bytes": ["8192", "x"],
    "session.external_data_loader.pinned_memory_bytes": ["1048576", "5"],
    "session.external_data_loader.threads": ["2", "65"],
    "session.fail_on_suboptimal_compiled_model": ["1"],
    "session.force_spinning_stop": ["1"],
    "session.function_expansion_byte_limit": ["1"],
    "session.function_expansion_node_limit": ["1", "none"],
    "session.gqa_value_layout": ["BNHS", "WRONG"],
    "session.graph_optimization_level": ["disable_all", "enable_basic"],
    "session.graph_optimizations_loop_level": ["0", "2"],
    "session.inter_op.allow_spinning": ["0"],
    "session.inter_op.spin_backoff_max": ["8"],
    "session.inter_op.spin_duration_us": ["10"],
    "session.inter_op_num_threads": ["3"],
    "session.intra_op.allow_spinning": ["0"],
    "session.intra_op.spin_backoff_max": ["8"],
    "session.intra_op.spin_duration_us": ["10"],
    "session.intra_op_num_threads": ["1"],
    "session.intra_op_thread_affinities": ["1;2"],
    "session.kernel_dispatch_policy": ["latency", "fastest"],
    "session.layer_assignment_settings": ["cpu(left)", "cpu"],
    "session.load_model_format": ["ORT", "ONNX"],
    "session.log_id": ["name"],
    "session.log_severity_level": ["0"],
    "session.log_verbosity_level": ["1"],
    "session.max_shape_override": ["x:[5,64]"],
    "session.model_external_initializers_file_folder_path": ["folder"],
    "session.moe.offload.mode": ["auto", "yes"],
    "session.moe_expert_counter_alpha": ["0.5"],
    "session.moe_expert_counter_beta": ["0.5"],
    "session.moe_expert_counter_state_file": ["state.bin"],
    "session.name_based_layer_assignment": ["cpu(left)", "cpu"],
    "session.node_partition_config_file": ["partition.json"],
    "session.optimized_model_external_initializers_file_name": ["optimised.bin"],
    "session.optimized_model_external_initializers_min_size_in_bytes": ["100000"],
    "session.optimized_model_filepath": ["by_key.onnx"],
    "session.prepack.enable_parallel": ["1"],
    "session.qdq_matmulnbits_accuracy_level": ["0"],
    "session.qdq_matmulnbits_block_size": ["64"],
    "session.qdqisint8allowed": ["1"],
    "session.record_ep_graph_assignment_info": ["1"],
    "session.resource_cuda_partitioning_settings": ["100,stats.csv"],
    "session.save_external_prepacked_constant_initializers": ["1"],
    "session.save_model_format": ["ORT"],
    "session.set_denormal_as_zero": ["0", "1"],
    "session.strict_shape_type_inference": ["1"],
    "session.strict_workspace_verification": ["1"],
    "session.use_deterministic_compute": ["1"],
    "session.use_device_allocator_for_initializers": ["1"],
    "session.use_env_allocators": ["1"],
    "session.use_external_initializer_file_buffers_directly": ["1"],
    "session.use_memory_mapped_ort_model": ["1"],
    "session.use_ort_model_bytes_directly": ["1"],
    "session.use_ort_model_bytes_for_initializers": ["1"],
    "session.use_per_session_threads": ["0"],
    "session.x64quantprecision": ["1"],
}

# Fields of Python's SessionOptions; each is a setter of the C interface, or a key above.
SESSION_FIELDS = {
    "enable_cpu_mem_arena": [False],
    "enable_mem_pattern": [False],
    "enable_mem_reuse": [False],
    "enable_profiling": [True],
    "execution_mode": ["ExecutionMode.ORT_PARALLEL"],
    "execution_order": ["ExecutionOrder.PRIORITY_BASED", "ExecutionOrder.MEMORY_EFFICIENT"],
    "graph_optimization_level": ["GraphOptimizationLevel.ORT_DISABLE_ALL"],
    "inter_op_num_threads": [3],
    "intra_op_num_threads": [1],
    "log_severity_level": [0],
    "log_verbosity_level": [1],
    "logid": ["name"],
    "optimized_model_filepath": ["by_field.onnx"],
    "profile_file_prefix": ["prefix"],
    "use_deterministic_compute": [True],
    "use_per_session_threads": [False],
}

RUN_KEYS = {
    "disable_synchronize_execution_providers": ["1"],
    "gpu_graph_id": ["-1"],
    "memory.enable_memory_arena_shrinkage": ["cpu:0"],
    "qnn.htp_perf_mode": ["burst"],
    "qnn.htp_perf_mode_post_run": ["burst"],
    "qnn.lora_config": ["lora.txt"],
    "qnn.rpc_control_latency": ["100"],
}

RUN_FIELDS = {
    "log_severity_level": [0],
    "log_verbosity_level": [1],
    "logid": ["tag"],
    "only_execute_path_to_fetches": [True],
    "terminate": [True],
}

ENVIRONMENT = {
    "ALLOW_RELEASED_ONNX_OPSET_ONLY": ["0"],
    "ORT_BEAM_SEARCH_USE_FAST_TOPK": ["1"],
    "ORT_DISABLE_DECODER_ATTENTION": ["1"],
    "ORT_DISABLE_FLASH_ATTENTION": ["1"],
    "ORT_DISABLE_TELEMETRY": ["1"],
    "ORT_GQA_DISABLE_FLASH_ATTENTION": ["1"],
    "ORT_INTER_OP_NUM_THREADS": ["3"],
    "ORT_INTRA_OP_NUM_THREADS": ["1"],
    "ORT_LOAD_CONFIG_FROM_MODEL": ["1"],
    "ORT_MLAS_QKGEMM_S8_APPROX_VNNI": ["1"],
    "ORT_QMOE_CPU_QNBIT_GEMM": ["1"],
    "ORT_USE_MLAS_Q4_GEMM_MOE": ["1"],
}

_CONTEXT = ("session key", "ep.context_enable", "1")
_OPTIMISED = ("session field", "optimized_model_filepath", "written.onnx")
_APART = ("session key", "session.optimized_model_external_initializers_file_name", "written.bin")
_PARALLEL = ("session field", "execution_mode", "ExecutionMode.ORT_PARALLEL")
_UNSAID = ("session field", "intra_op_num_threads", 0)
_ASLEEP = ("session key", "session.intra_op.allow_spinning", "0")
_FEW = ("session field", "intra_op_num_threads", 2)
_ORT_FORMAT = ("session key", "session.save_model_format", "ORT")
_PROFILING = ("session field", "enable_profiling", True)
_WARNINGS = ("session field", "log_severity_level", 2)
_EVERYTHING = ("session field", "log_severity_level", 0)

# What must be set beside a setting for it to matter: it is compared with these alone.
COMPANIONS = {
    "ORT_INTER_OP_NUM_THREADS": (_PARALLEL,),
    "ORT_INTRA_OP_NUM_THREADS": (_UNSAID, _ASLEEP),
    "ep.context_embed_mode": (_CONTEXT, ("session key", "ep.context_file_path", "context.onnx")),
    "ep.context_file_path": (_CONTEXT,),
    "ep.context_model_external_initializers_file_name": (_CONTEXT, ("session key", "ep.context_file_path", "context.onnx")),
    "ep.context_node_name_prefix": (_CONTEXT, ("session key", "ep.context_file_path", "context.onnx")),
    "inter_op_num_threads": (_PARALLEL,),
    "log_verbosity_level": (_EVERYTHING,),
    "logid": (_WARNINGS, _OPTIMISED, _ORT_FORMAT),
    "profile_file_prefix": (_PROFILING,),
    "session.inter_op.allow_spinning": (_PARALLEL,),
    "session.inter_op.spin_backoff_max": (_PARALLEL,),
    "session.inter_op.spin_duration_us": (_PARALLEL,),
    "session.inter_op_num_threads": (_PARALLEL,),
    "session.intra_op.allow_spinning": (_FEW,),
    "session.intra_op.spin_duration_us": (_FEW,),
    "session.intra_op_thread_affinities": (("session field", "intra_op_num_threads", 3),),
    "session.log_id": (_WARNINGS, _OPTIMISED, _ORT_FORMAT),
    "session.log_verbosity_level": (_EVERYTHING,),
    "session.optimized_model_external_initializers_file_name": (_OPTIMISED,),
    "session.optimized_model_external_initializers_min_size_in_bytes": (_OPTIMISED, _APART),
    "session.save_external_prepacked_constant_initializers": (_OPTIMISED, _APART),
    "session.save_model_format": (_OPTIMISED,),
    ("run field", "logid"): (("run field", "log_severity_level", 0),),
    ("run field", "log_verbosity_level"): (("run field", "log_severity_level", 0),),
}

# What changes something in ONNX Runtime and nothing here, on purpose: docs/options.md has a row that says why.
OTHERWISE = {
    "log_verbosity_level",  # verbose messages have one level
    "ORT_GQA_DISABLE_FLASH_ATTENTION",  # there is one way to compute it
    "mlas.use_lut_gemm",  # of kernels that are not here
    "session.log_verbosity_level",
    "session.disable_double_qdq_remover",  # as though it were 1
    "session.x64quantprecision",  # sums of bytes never saturate
}

# What has an effect that these models do not show: the test that does.
ELSEWHERE = {
    "ep.context_embed_mode": "tests/providers/hooks_test.cc",
    "ep.context_model_external_initializers_file_name": "tests/session/context_model_test.cc",
    "session.disable_model_compile": "tests/providers/hooks_test.cc",
    "session.dynamic_block_base": "tests/session/threads_test.cc",
    "session.fail_on_suboptimal_compiled_model": "tests/providers/hooks_test.cc",
}
