#include "status.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace mscclc::rt {
namespace {

thread_local std::string lastError;

std::string formatList(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  if (length > 0)
    std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

struct CodeText {
  int32_t code;
  const char *name;
  const char *text;
};
#define CODE(name, text) {name, #name, text}
const CodeText codeTexts[] = {
    CODE(MSCCLC_OK, "no error"),
    CODE(MSCCLC_ERROR_ABI, "the kernel has another ABI version than its launcher"),
    CODE(MSCCLC_ERROR_SIZE, "the kernel does not take messages of this size"),
    CODE(MSCCLC_ERROR_RANK, "the kernel has no such rank"),
    CODE(MSCCLC_ERROR_THREADS, "the kernel does not take this number of threads a block"),
    CODE(MSCCLC_ERROR_NOT_RESIDENT, "the blocks that wait for each other do not fit on the device at once"),
    CODE(MSCCLC_ERROR_SCRATCH, "the scratch is too small for this message"),
    CODE(MSCCLC_ERROR_ROWS, "the message does not consist of whole rows"),
    CODE(MSCCLC_ERROR_COUNTS, "the launch brings no counts of rows, or other ones than the kernel takes"),
    CODE(MSCCLC_ERROR_PART, "the kernels that send and receive do not take turns, or there is only one"),
#define MSCCLC_FAILURE(id, number, text) {number, "MSCCLC_ERROR_" #id, text},
#include "mscclc/errors.def"
};
#undef CODE

const CodeText *find(int32_t code) {
  for (const CodeText &entry : codeTexts)
    if (entry.code == code)
      return &entry;
  return nullptr;
}

} // namespace

std::string format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = formatList(format, arguments);
  va_end(arguments);
  return text;
}

Status failure(int32_t code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status{code, formatList(format, arguments)};
  va_end(arguments);
  return status;
}

Status systemFailure(const std::string &what) {
  const int code = errno;
  const bool memory = code == ENOMEM || code == EFBIG;
  return {memory ? MSCCLC_ERROR_MEMORY : MSCCLC_ERROR_SYSTEM, what + ": " + std::strerror(code)};
}

Status kernelFailure(int32_t code, const char *kernel, uint32_t rank) {
  if (code >= MSCCLC_ERROR_DEVICE)
    return failure(code, "kernel '%s', rank %u: CUDA error %d", kernel, rank, code - MSCCLC_ERROR_DEVICE);
  return failure(code, "kernel '%s', rank %u: %s", kernel, rank, mscclc_error_text(code));
}

int32_t report(const Status &status) {
  if (!status.ok())
    lastError = status.text;
  return status.code;
}

} // namespace mscclc::rt

extern "C" {

const char *mscclc_error_name(int32_t code) {
  if (const auto *entry = mscclc::rt::find(code))
    return entry->name;
  return code >= MSCCLC_ERROR_DEVICE ? "MSCCLC_ERROR_DEVICE" : "unknown";
}

const char *mscclc_error_text(int32_t code) {
  if (const auto *entry = mscclc::rt::find(code))
    return entry->text;
  return code >= MSCCLC_ERROR_DEVICE ? "an error of the device" : "no such code";
}

const char *mscclc_last_error(void) {
  return mscclc::rt::lastError.c_str();
}

const char *mscclc_runtime_version(void) {
  return MSCCLC_RUNTIME_VERSION;
}
}
