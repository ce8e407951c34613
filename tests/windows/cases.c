/* cases LIST: runs the models that a file lists through the C interface and writes what they give. A line of the list is a model, a file of
   inputs and a file for the outputs, with blanks between. Inputs: how many, then for each the bytes of its name and the bytes of a
   TensorProto, each behind its length. Outputs: how many, then for each its element type, its rank, its dimensions, and the elements behind
   their length in bytes; texts behind the length of each. Numbers are of 64 bits. A line on standard output says what became of each model.
 */
#include <onnxruntime_c_api.h>
#include <roundhouse_c_api.h>

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 64, kLongest = 4096 };

static const OrtApi* ort;
static OrtAllocator* allocator;

typedef struct Bytes {
  char* data;
  int64_t size, at;
} Bytes;

/* Where a run ends: its message is printed, and the next model comes. */
static int failed(OrtStatus* status) {
  if (!status) return 0;
  printf("error %d: %s\n", (int)ort->GetErrorCode(status), ort->GetErrorMessage(status));
  ort->ReleaseStatus(status);
  return 1;
}

static Bytes read_file(const char* path) {
  Bytes bytes = {NULL, 0, 0};
  FILE* file = fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "there is no file %s\n", path);
    exit(2);
  }
  fseek(file, 0, SEEK_END);
  bytes.size = ftell(file);
  rewind(file);
  bytes.data = malloc((size_t)bytes.size + 1);
  if (fread(bytes.data, 1, (size_t)bytes.size, file) != (size_t)bytes.size) exit(2);
  fclose(file);
  return bytes;
}

static int64_t next_number(Bytes* bytes) {
  int64_t number;
  memcpy(&number, bytes->data + bytes->at, sizeof number);
  bytes->at += (int64_t)sizeof number;
  return number;
}

static const char* next_part(Bytes* bytes, int64_t* size) {
  *size = next_number(bytes);
  bytes->at += *size;
  return bytes->data + bytes->at - *size;
}

static void write_number(FILE* file, int64_t number) { fwrite(&number, sizeof number, 1, file); }

static int write_texts(FILE* file, const OrtValue* value, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    size_t length;
    if (failed(ort->GetStringTensorElementLength(value, i, &length))) return 1;
    char* text = malloc(length + 1);
    if (failed(ort->GetStringTensorElement(value, length, i, text))) return 1;
    write_number(file, (int64_t)length);
    fwrite(text, 1, length, file);
    free(text);
  }
  return 0;
}

static int write_value(FILE* file, OrtValue* value) {
  OrtTensorTypeAndShapeInfo* info;
  ONNXTensorElementDataType type;
  size_t rank, count, bytes;
  int64_t dims[kMost];
  void* data;
  int is_tensor = 0;
  if (value && failed(ort->IsTensor(value, &is_tensor))) return 1;
  if (!is_tensor) {
    printf("an output is no tensor\n");
    return 1;
  }
  if (failed(ort->GetTensorTypeAndShape(value, &info)) || failed(ort->GetTensorElementType(info, &type)) ||
      failed(ort->GetDimensionsCount(info, &rank)) || failed(ort->GetDimensions(info, dims, rank)) ||
      failed(ort->GetTensorShapeElementCount(info, &count)))
    return 1;
  ort->ReleaseTensorTypeAndShapeInfo(info);
  write_number(file, type);
  write_number(file, (int64_t)rank);
  for (size_t i = 0; i < rank; ++i) write_number(file, dims[i]);
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return write_texts(file, value, count);
  if (failed(ort->GetTensorMutableData(value, &data)) || failed(ort->GetTensorSizeInBytes(value, &bytes))) return 1;
  write_number(file, (int64_t)bytes);
  fwrite(data, 1, bytes, file);
  return 0;
}

static int run(OrtSession* session, Bytes* inputs, const char* to) {
  char *names[kMost], *output_names[kMost];
  OrtValue *values[kMost], *results[kMost] = {0};
  size_t outputs;
  const size_t count = (size_t)next_number(inputs);
  for (size_t i = 0; i < count; ++i) {
    int64_t length, size;
    char* own_name;
    const char* name = next_part(inputs, &length);
    names[i] = malloc((size_t)length + 1);
    memcpy(names[i], name, (size_t)length);
    names[i][length] = 0;
    const char* proto = next_part(inputs, &size);
    if (failed(RhCreateValueFromProto(proto, (size_t)size, allocator, &values[i], &own_name))) return 1;
    if (failed(ort->AllocatorFree(allocator, own_name))) return 1;
  }
  if (failed(ort->SessionGetOutputCount(session, &outputs))) return 1;
  for (size_t i = 0; i < outputs; ++i)
    if (failed(ort->SessionGetOutputName(session, i, allocator, &output_names[i]))) return 1;
  if (failed(ort->Run(session, NULL, (const char* const*)names, (const OrtValue* const*)values, count, (const char* const*)output_names,
                      outputs, results)))
    return 1;
  FILE* file = fopen(to, "wb");
  if (!file) exit(2);
  write_number(file, (int64_t)outputs);
  int wrong = 0;
  for (size_t i = 0; i < outputs && !wrong; ++i) wrong = write_value(file, results[i]);
  fclose(file);
  for (size_t i = 0; i < outputs; ++i) ort->ReleaseValue(results[i]);
  for (size_t i = 0; i < count; ++i) ort->ReleaseValue(values[i]);
  return wrong;
}

int main(int count, char** words) {
  char line[3 * kLongest], model[kLongest], inputs[kLongest], outputs[kLongest];
  OrtEnv* env;
  OrtSessionOptions* options;
  if (count != 2) return 2;
  ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  if (failed(ort->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "cases", &env)) || failed(ort->CreateSessionOptions(&options)) ||
      failed(ort->SetIntraOpNumThreads(options, 1)) || failed(ort->GetAllocatorWithDefaultOptions(&allocator)))
    return 2;
  FILE* list = fopen(words[1], "r");
  if (!list) return 2;
  while (fgets(line, sizeof line, list)) {
    ORTCHAR_T path[kLongest] = {0};
    OrtSession* session = NULL;
    if (sscanf(line, "%4095s %4095s %4095s", model, inputs, outputs) != 3) return 2;
    for (size_t i = 0; model[i]; ++i) path[i] = (ORTCHAR_T)(unsigned char)model[i];
    printf("%s ", model);
    Bytes bytes = read_file(inputs);
    if (!failed(ort->CreateSession(env, path, options, &session)) && !run(session, &bytes, outputs)) printf("ran\n");
    fflush(stdout);
    ort->ReleaseSession(session);
    free(bytes.data);
  }
  fclose(list);
  ort->ReleaseSessionOptions(options);
  ort->ReleaseEnv(env);
  return 0;
}
