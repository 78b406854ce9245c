// A profiler, as NVTX loads it: prints the domains and ranges of a program.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>

namespace {

nvtxDomainHandle_t create(const char *name) {
  std::fprintf(stderr, "nvtx: domain %s\n", name);
  return reinterpret_cast<nvtxDomainHandle_t>(const_cast<char *>(name));
}
int push(nvtxDomainHandle_t, const nvtxEventAttributes_t *event) {
  std::fprintf(stderr, "nvtx: begin %s\n", event->message.ascii);
  return 0;
}
int pop(nvtxDomainHandle_t) {
  std::fprintf(stderr, "nvtx: end\n");
  return 0;
}

} // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t exported) {
  const auto *callbacks = static_cast<const NvtxExportTableCallbacks *>(exported(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0)
    return 0;
  const auto set = [&](unsigned id, auto *function) { *table[id] = reinterpret_cast<NvtxFunctionPointer>(function); };
  set(NVTX_CBID_CORE2_DomainCreateA, &create);
  set(NVTX_CBID_CORE2_DomainRangePushEx, &push);
  set(NVTX_CBID_CORE2_DomainRangePop, &pop);
  return 1;
}
