#pragma once

namespace rh {

/// What the conditions of passes read (pass_list.inc). As it stands, every pass may run but those for files of the basic level.
struct RewriteSettings {
  bool avx512 = true;             ///< the processor has AVX-512
  bool strict_precision = false;  ///< `roundhouse.precision` is "strict"
  bool lean_memory = false;       ///< `roundhouse.memory` is "lean"
  bool minimal_build = false;  ///< `optimization.minimal_build_optimizations` is "apply": the graph may go into a file for other machines
  bool basic_file = false;     ///< the model is written to a file at the basic level (`session.optimized_model_filepath`)
  bool quantized_operators = true;     ///< `session.disable_quant_qdq` is off
  bool quantization_cleanup = true;    ///< `session.enable_quant_qdq_cleanup` is on
  bool int8_matmuls = true;            ///< `session.qdq_matmulnbits_accuracy_level` is 4, its default, and `mlas.qnbit.force_fp32` off
  bool cast_chain_elimination = true;  ///< `optimization.enable_cast_chain_elimination` is on
  bool gelu_approximation = true;      ///< `optimization.enable_gelu_approximation` is on
};

}  // namespace rh
