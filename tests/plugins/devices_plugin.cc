// Providers whose names and devices stand in the name that the library is registered as: "NAME/VENDOR:KIND,VENDOR
// ID,VENDOR[,DISCRETE];...", kinds cpu (the host's), gpu, npu. Each takes Relu, and writes to the file that the session's entry
// "devices.log" names what it is made for, and each run's entry "ep.<name>.run".
#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "kit.h"

namespace {

using namespace rh::test::kit;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

void relu(OpKernelContext& context) {
  const TensorView x = context.input(0), y = context.output(0, x.shape);
  const auto* from = static_cast<const float*>(x.data);
  std::transform(from, from + x.elements(), static_cast<float*>(y.data), [](float value) { return std::max(value, 0.0f); });
}

struct Devices final : IExecutionProvider {
  explicit Devices(const OrtSessionOptions* options) : log(config(options, "devices.log")) {}
  std::shared_ptr<KernelRegistry> GetKernelRegistry() const override {
    auto registry = std::make_shared<KernelRegistry>();
    registry->add({"Relu", "", 6, 14, {{"T", {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT}}}, [](const OrtKernelInfo*) { return relu; }});
    return registry;
  }
  void write(const std::string& line) const { std::ofstream(log, std::ios::app) << line << "\n"; }

  std::string log;
};

std::string key_of(const char* name, const char* key) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return "ep." + lower + "." + key;
}

struct DevicesEp : detail::EpTable<Devices> {
  DevicesEp(const char* name, const OrtSessionOptions* options) : EpTable(name, options) {
    OnRunStart = [](OrtEp* self, const OrtRunOptions* run) {
      return detail::guard([&] {
        const auto& ep = *static_cast<DevicesEp*>(self);
        const char* value = detail::host.api->GetRunConfigEntry(run, key_of(ep.name, "run").c_str());
        if (value) ep.provider.write(std::string(ep.name) + " runs with " + value);
      });
    };
  }
};

struct DevicesFactory : detail::Factory<Devices, ProviderTraits> {
  explicit DevicesFactory(const std::string& text) : Factory(kept(text.substr(0, text.find('/')))), spec(text) {
    GetVendor = [](const OrtEpFactory* self) {
      const std::string& all = static_cast<const DevicesFactory*>(self)->spec;
      const size_t begin = all.find('/') + 1;
      return kept(all.substr(begin, all.find(':') - begin));
    };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* hardware, size_t count, OrtEpDevice** out, size_t room,
                             size_t* used) {
      return detail::guard([&] {
        auto& factory = *static_cast<DevicesFactory*>(self);
        factory.offer(factory.devices(hardware[0]), out, room, used);
        (void)count;
      });
    };
    CreateEp = [](OrtEpFactory* self, const OrtHardwareDevice* const* hardware, const OrtKeyValuePairs* const*, size_t count,
                  const OrtSessionOptions* options, const OrtLogger*, OrtEp** out) {
      return detail::guard([&] {
        auto made = static_cast<DevicesFactory*>(self)->make_ep<DevicesEp>(options);
        std::string line = std::string(made->name) + " made for";
        for (size_t i = 0; i < count; ++i) {
          const HardwareDevice device = describe(hardware[i]);
          line += " " + std::to_string(device.type) + "/" + std::to_string(device.vendor_id);
        }
        made->provider.write(line + ", speed " + config(options, key_of(made->name, "speed")));
        *out = made.release();
      });
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<DevicesEp*>(ep); };
  }

  std::vector<ProviderDevice> devices(const OrtHardwareDevice* processor) const {
    std::vector<ProviderDevice> list;
    for (const std::string& text : split(spec.substr(spec.find(':') + 1), ';')) {
      const std::vector<std::string> words = split(text, ',');
      ProviderDevice device{describe(processor), {{"text", text}}, {{"speed", "7"}}};
      if (words[0] != "cpu") {
        const OrtHardwareDeviceType type = words[0] == "gpu" ? OrtHardwareDeviceType_GPU : OrtHardwareDeviceType_NPU;
        device.hardware = {type, static_cast<uint32_t>(std::stoul(words[1])), 1, words[2]};
        if (words.size() > 3) device.hardware.metadata["Discrete"] = words[3];
      }
      list.push_back(device);
    }
    return list;
  }

  static const char* kept(const std::string& text) {
    static std::set<std::string> texts;
    return texts.insert(text).first->c_str();
  }

  std::string spec;
};

}  // namespace

extern "C" {
ORT_EXPORT OrtStatus* ORT_API_CALL CreateEpFactories(const char* name, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                                     size_t, size_t* count) {
  *count = 0;
  if (!detail::connect(base)) return nullptr;
  return detail::guard([&] {
    factories[0] = new DevicesFactory(name);
    *count = 1;
  });
}
ORT_EXPORT OrtStatus* ORT_API_CALL ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<DevicesFactory*>(factory);
  return nullptr;
}
}
