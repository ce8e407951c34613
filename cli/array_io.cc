#include "array_io.h"

#include <roundhouse/roundhouse_c_api.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "system.h"

namespace rh::cli {

namespace {

struct Element {
  ONNXTensorElementDataType type;
  const char* name;
  const char* numpy;  ///< in .npy headers
  size_t bytes;
};

constexpr Element kElements[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, "float", "<f4", 4},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, "uint8", "|u1", 1},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, "int8", "|i1", 1},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, "uint16", "<u2", 2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, "int16", "<i2", 2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, "int32", "<i4", 4},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, "int64", "<i8", 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, "bool", "|b1", 1},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, "float16", "<f2", 2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, "double", "<f8", 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, "uint32", "<u4", 4},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, "uint64", "<u8", 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, "complex64", "<c8", 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, "complex128", "<c16", 16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, "bfloat16", "<V2", 2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, "string", "", 0},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, "int4", "", 0},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, "uint4", "", 0},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2, "int2", "", 0},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2, "uint2", "", 0},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1, "float4e2m1", "", 0},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, "float8e4m3fn", "", 0},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, "float8e4m3fnuz", "", 0},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, "float8e5m2", "", 0},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, "float8e5m2fnuz", "", 0},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0, "float8e8m0", "", 0},
};

const Element* find(ONNXTensorElementDataType type) {
  for (const Element& e : kElements) {
    if (e.type == type) return &e;
  }
  return nullptr;
}

[[noreturn]] void fail(const std::string& path, const std::string& what) { throw std::runtime_error(path + ": " + what); }

std::string read_file(const std::string& path) {
  std::ifstream stream(as_path(path), std::ios::binary);
  if (!stream) fail(path, std::string("cannot be read: ") + std::strerror(errno));
  std::ostringstream text;
  text << stream.rdbuf();
  return std::move(text).str();
}

// The value of 'key' in the header of a .npy file: a Python dict literal.
std::string header_field(const std::string& path, const std::string& header, const std::string& key) {
  const size_t at = header.find("'" + key + "'");
  if (at == std::string::npos) fail(path, "the .npy header lacks '" + key + "'");
  const size_t begin = header.find_first_not_of(": ", at + key.size() + 2);
  if (begin == std::string::npos) fail(path, "the .npy header is damaged");
  const char close = header[begin] == '(' ? ')' : header[begin] == '\'' ? '\'' : ',';
  const size_t end = header.find(close, begin + 1);
  if (end == std::string::npos) fail(path, "the .npy header is damaged");
  return header.substr(begin + (close == ',' ? 0 : 1), end - begin - (close == ',' ? 0 : 1));
}

// What to do about an array whose dtype cannot be read.
std::string remedy(const std::string& descr) {
  if (descr.starts_with("<U") || descr.starts_with("|O") || descr.starts_with("|S")) return "give strings as a TensorProto in a .pb file";
  if (descr.starts_with(">")) return "expected little-endian: save array.astype(array.dtype.newbyteorder('<'))";
  return "expected a number of an ONNX element type; give others as a TensorProto in a .pb file";
}

Ort::Value parse_npy(const std::string& path, const std::string& file) {
  if (file.size() < 10 || file.compare(0, 6, "\x93NUMPY") != 0) fail(path, "is not a .npy file");
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(file[i])); };
  const bool wide = file[6] >= 2;
  if (wide && file.size() < 12) fail(path, "is truncated");
  const size_t length = wide ? byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24 : byte(8) | byte(9) << 8;
  const size_t start = (wide ? 12 : 10) + length;
  if (start > file.size()) fail(path, "is truncated");
  const std::string header = file.substr(wide ? 12 : 10, length), descr = header_field(path, header, "descr");
  if (header_field(path, header, "fortran_order") != "False") fail(path, "is in Fortran order; save it with numpy.ascontiguousarray");
  std::vector<int64_t> shape;
  std::istringstream dims(header_field(path, header, "shape"));
  for (std::string dim; std::getline(dims, dim, ',');) {
    const size_t first = dim.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    const std::string digits = dim.substr(first);
    if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos)
      fail(path, "the .npy header has a damaged shape");
    shape.push_back(std::stoll(digits));
  }
  for (const Element& e : kElements) {
    if (e.bytes == 0 || descr != e.numpy) continue;
    double expected = static_cast<double>(e.bytes);
    for (int64_t dim : shape) expected *= static_cast<double>(dim);
    if (static_cast<double>(file.size() - start) < expected) {
      char text[32];
      std::snprintf(text, sizeof text, "%.15g", expected);
      fail(path, "holds " + std::to_string(file.size() - start) + " bytes of data, expected " + text);
    }
    Ort::Value value = make_tensor(e.type, shape);
    const size_t bytes = static_cast<size_t>(expected);
    if (bytes) std::memcpy(value.GetTensorMutableRawData(), file.data() + start, bytes);
    return value;
  }
  fail(path, "has dtype '" + descr + "'; " + remedy(descr));
}

std::string inflate_member(const std::string& path, const char* data, size_t compressed, size_t size) {
  std::string out(size, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data));
  stream.avail_in = static_cast<uInt>(compressed);
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(size);
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) fail(path, "cannot be decompressed");
  const int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.total_out != size) fail(path, "has a damaged member");
  return out;
}

// Members by the central directory at the file's end.
std::vector<NamedValue> parse_npz(const std::string& path, const std::string& file) {
  const auto number = [&](size_t at, int bytes) -> size_t {
    if (at + static_cast<size_t>(bytes) > file.size()) fail(path, "is truncated");
    size_t value = 0;
    for (int i = bytes - 1; i >= 0; --i) value = value << 8 | static_cast<unsigned char>(file[at + static_cast<size_t>(i)]);
    return value;
  };
  const size_t end = file.rfind("PK\x05\x06");
  if (end == std::string::npos) fail(path, "is truncated or not a .npz file");
  std::vector<NamedValue> values;
  size_t at = number(end + 16, 4);
  for (size_t i = 0, count = number(end + 10, 2); i < count; ++i) {
    if (number(at, 4) != 0x02014b50) fail(path, "has a damaged directory");
    const size_t method = number(at + 10, 2), compressed = number(at + 20, 4), size = number(at + 24, 4), local = number(at + 42, 4);
    const size_t name_length = number(at + 28, 2);
    if (at + 46 > file.size()) fail(path, "is truncated");
    std::string name = file.substr(at + 46, name_length);
    at += 46 + name_length + number(at + 30, 2) + number(at + 32, 2);
    const size_t data = local + 30 + number(local + 26, 2) + number(local + 28, 2);
    if (compressed == 0xffffffff || size > (size_t{1} << 31)) fail(path, "member " + name + " is larger than 2 GiB; save it as .npy");
    if (data > file.size() || compressed > file.size() - data) fail(path, "is truncated");
    if (method != 0 && method != 8) fail(path, "member " + name + " uses a compression other than deflate");
    const std::string member = method == 0 ? file.substr(data, size) : inflate_member(path, file.data() + data, compressed, size);
    Ort::Value value = parse_npy(path + ":" + name, member);
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    values.emplace_back(std::move(name), std::move(value));
  }
  return values;
}

NamedValue parse_proto(const std::string& path, const std::string& file) {
  OrtValue* raw = nullptr;
  char* name = nullptr;
  Ort::AllocatorWithDefaultOptions allocator;
  try {
    Ort::ThrowOnError(RhCreateValueFromProto(file.data(), file.size(), allocator, &raw, &name));
  } catch (const Ort::Exception& error) {
    fail(path, std::string("is not a TensorProto: ") + error.what());
  }
  return {Ort::AllocatedStringPtr(name, Ort::detail::AllocatedFree(allocator)).get(), Ort::Value(raw)};
}

}  // namespace

size_t element_bytes(ONNXTensorElementDataType type) {
  const Element* e = find(type);
  return e ? e->bytes : 0;
}

const char* element_name(ONNXTensorElementDataType type) {
  const Element* e = find(type);
  return e ? e->name : "other";
}

Ort::Value make_tensor(ONNXTensorElementDataType type, const std::vector<int64_t>& shape) {
  Ort::AllocatorWithDefaultOptions allocator;
  return Ort::Value::CreateTensor(allocator, shape.data(), shape.size(), type);
}

std::vector<NamedValue> read_arrays(const std::string& path) {
  const std::string file = read_file(path);
  std::vector<NamedValue> values;
  if (path.ends_with(".npz")) return parse_npz(path, file);
  if (path.ends_with(".npy")) {
    values.emplace_back("", parse_npy(path, file));
  } else if (path.ends_with(".pb")) {
    values.push_back(parse_proto(path, file));
  } else {
    fail(path, "has an ending that is not known, expected .npy, .npz or .pb, .json, or an image");
  }
  return values;
}

void write_npy(const std::string& path, const Ort::Value& value) {
  if (!value || !value.HasValue() || !value.IsTensor()) {
    fail(path, "only tensors can be written as .npy; leave --save out or name other outputs with --output");
  }
  const auto info = value.GetTensorTypeAndShapeInfo();
  const Element* e = find(info.GetElementType());
  if (!e || e->bytes == 0)
    fail(path, std::string("tensors of ") + element_name(info.GetElementType()) +
                   " cannot be written as .npy; leave --save out or name other outputs with --output");
  std::string shape;
  for (int64_t dim : info.GetShape()) shape += std::to_string(dim) + ", ";
  std::string header = std::string("{'descr': '") + e->numpy + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::ofstream stream(as_path(path), std::ios::binary);
  stream << "\x93NUMPY" << '\x01' << '\x00' << static_cast<char>(header.size() & 0xff) << static_cast<char>(header.size() >> 8) << header;
  stream.write(static_cast<const char*>(value.GetTensorRawData()), static_cast<std::streamsize>(info.GetElementCount() * e->bytes));
  if (!stream.flush()) fail(path, "cannot be written");
}

}  // namespace rh::cli
