#include "providers/migraphx/runtime.h"

#include <dlfcn.h>
#include <link.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/vendor_files.h"
#include "graph/graph.h"
#include "onnx/writer.h"
#include "providers/migraphx/error_text.h"

namespace rh::migraphx {

namespace {

constexpr DType kTypes[] = {DType::boolean, DType::float16, DType::float32, DType::float64, DType::uint8,  DType::int8,    DType::uint16,
                            DType::int16,   DType::int32,   DType::int64,   DType::uint32,  DType::uint64, DType::bfloat16};

kit::VendorLibrary open(std::string_view given) {
  const VendorFiles& vendor = *vendor_files("migraphx");
  const VendorFilesState state = look_for_vendor(vendor, given);
  if (!state.problem.empty()) fail(ErrorCode::not_found, "{}", state.problem);
  return kit::VendorLibrary({.title = "MIGraphX",
                             .file = vendor.file,
                             .given = given,
                             .option = "library_path",
                             .variable = vendor.variable,
                             .found = state.file.native(),
                             .stays_loaded = true});
}

/// Of the library behind the C interface, "libmigraphx.so.2014000.0", which has no function that tells it.
std::string loaded_version() {
  std::string version = "of an unknown version";
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        constexpr std::string_view kName = "/libmigraphx.so.";
        const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
        const size_t at = path.rfind(kName);
        if (at == path.npos) return 0;
        const char* digits = path.data() + at + kName.size();
        int number = 0;
        std::from_chars(digits, path.data() + path.size(), number);
        if (number >= 1000000)
          *static_cast<std::string*>(into) = fmt::format("{}.{}.{}", number / 1000000, number / 1000 % 1000, number % 1000);
        return 1;
      },
      &version);
  return version;
}

/// A model with a value of each of these types.
std::string model_of(std::span<const DType> types) {
  Graph graph;
  graph.name = "types";
  graph.opset_imports[""] = 17;
  for (DType type : types) {
    const std::string name(to_string(type));
    const ValueId input = graph.add_input(name, ValueType::tensor(type, SymbolicShape{Dim(1)}));
    const ValueId output = graph.add_value(name + " out", ValueType::tensor(type, SymbolicShape{Dim(1)}));
    Node node;
    node.op_type = "Identity";
    node.inputs = {input};
    node.outputs = {output};
    graph.add_node(std::move(node));
    graph.add_output(output);
  }
  return onnx::write_model(ModelInfo(), graph);
}

}  // namespace

Runtime::Runtime(std::string_view given, std::string_view target, int device_id)
    : library_(open(given)), api_(library_), target_name_(target), version_(loaded_version()), target_(nullptr, api_.target_destroy) {
  find_device(device_id);
  read_type_numbers();
}

Target* Runtime::target() const {
  std::call_once(made_target_, [&] { target_ = make("target", api_.target_destroy, api_.target_create, target_name_.c_str()); });
  return target_.get();
}

// As the kernel's driver tells them.
std::string Runtime::gpus() {
  std::set<std::string> kinds;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/sys/class/kfd/kfd/topology/nodes", error), end; !error && at != end; at.increment(error)) {
    std::ifstream properties(at->path() / "properties");
    for (std::string name, value; properties >> name >> value;) {
      if (name == "gfx_target_version" && value != "0") kinds.insert(value);
    }
  }
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : " ") + kind;
  return text;
}

// HIP's current device belongs to a thread, so each call sets it; the first one need not be.
void Runtime::find_device(int device_id) {
  if (device_id == 0 || target_name_ != "gpu") return;
  device_id_ = device_id;
  for (const char* name : {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"}) {
    if (void* hip = ::dlopen(name, RTLD_NOW)) set_device_ = reinterpret_cast<int (*)(int)>(::dlsym(hip, "hipSetDevice"));
    if (set_device_) return;
  }
  fail(ErrorCode::not_found, "device_id is {}, and there is no HIP library libamdhip64.so that chooses it: install ROCm's run time",
       device_id);
}

void Runtime::checked(std::string_view what, FunctionRef<VendorStatus()> function) const {
  if (set_device_) {
    if (const int status = set_device_(device_id_)) fail(ErrorCode::ep_fail, "HIP has no device {} (error {})", device_id_, status);
  }
  const ErrorText told(library_);
  const VendorStatus status = function();
  if (status == 0) return;
  const std::string text = told.take();
  fail(ErrorCode::ep_fail, "MIGraphX's {} failed ({}): {}", what, status, text.empty() ? "it gives no message" : text);
}

// An old version lacks bfloat16, and then takes no model that has it.
void Runtime::read_type_numbers() {
  std::span<const DType> types = kTypes;
  const auto options = make("onnx_options", api_.onnx_options_destroy, api_.onnx_options_create);
  Owned<Program> program(nullptr, api_.program_destroy);
  for (;; types = types.first(types.size() - 1)) {
    const std::string model = model_of(types);
    try {
      program =
          make("parse", api_.program_destroy, api_.parse_onnx_buffer, static_cast<const void*>(model.data()), model.size(), options.get());
      break;
    } catch (const Error&) {
      if (types.size() < std::size(kTypes)) throw;
    }
  }
  const auto shapes = make("output_shapes", api_.shapes_destroy, api_.program_get_output_shapes, program.get());
  for (size_t i = 0; i < types.size(); ++i) {
    const VendorShape* shape = nullptr;
    call("shapes", api_.shapes_get, &shape, shapes.get(), i);
    numbers_[types[i]] = layout_of(*shape).type;
  }
}

int Runtime::number_of(DType type) const {
  const auto known = numbers_.find(type);
  return known == numbers_.end() ? -1 : known->second;
}

ValueLayout Runtime::layout_of(const VendorShape& shape) const {
  ValueLayout layout;
  const size_t* numbers = nullptr;
  size_t count = 0;
  call("shape_type", api_.shape_type, &layout.type, &shape);
  call("shape_dynamic", api_.shape_dynamic, &layout.is_dynamic, &shape);
  if (layout.is_dynamic) return layout;
  call("shape_lengths", api_.shape_lengths, &numbers, &count, &shape);
  layout.lengths.assign(numbers, numbers + count);
  call("shape_strides", api_.shape_strides, &numbers, &count, &shape);
  layout.strides.assign(numbers, numbers + count);
  return layout;
}

}  // namespace rh::migraphx
