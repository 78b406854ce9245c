// Makes descriptors from a diagnostics.def. There is no include guard: include it once for each .def, in a namespace:
//   namespace mscclc::passes::diag {
//   #define DIAGNOSTICS_FILE "passes/diagnostics.def"
//   #include "ir/declare_diagnostics.h"
//   }
#define DIAG(name, column, text)                                                                                       \
  inline constexpr ::mscclc::ir::DiagInfo name{                                                                        \
      #name, ::mscclc::ir::level::column.severity, text, {}, ::mscclc::ir::level::column.exitCode};
#define ALLOWABLE(name, allowName, summary, text)                                                                      \
  inline constexpr ::mscclc::ir::DiagInfo name{#name, ::mscclc::ir::Severity::Error, text, allowName};
#include DIAGNOSTICS_FILE
#undef DIAG
#undef ALLOWABLE
#undef DIAGNOSTICS_FILE
