// Findings about a schedule in XML.
#pragma once

#include "frontend/xml/diagnostics.h"

#include <cstdint>
#include <vector>

namespace mscclc::xml {

/// Reports findings. full() is true after many errors.
class Findings {
public:
  explicit Findings(ir::DiagnosticEngine &engine) : engine_(engine), before_(engine.numErrors()) {}

  ir::DiagBuilder report(const ir::DiagInfo &info, ir::LocId loc, const std::vector<ir::DiagArg> &args = {}) {
    return engine_.report(info, loc, args);
  }
  std::uint64_t errors() const { return engine_.numErrors() - before_; }
  bool any() const { return errors() != 0; }
  bool full() const { return errors() >= mostErrors; }

private:
  static constexpr std::uint64_t mostErrors = 100;
  ir::DiagnosticEngine &engine_;
  std::uint64_t before_;
};

} // namespace mscclc::xml
