// Programs as text, on a machine of round numbers, so that times can be computed by hand.
#pragma once

#include "catch.h"
#include "ir/diagnostics.h"
#include "ir/text.h"
#include "passes/time/estimate.h"

#include <string>

namespace mscclc::passes::time {

/// Links of 100 GB/s, blocks that copy 50 GB/s; a launch takes 1 us, a local load 250 ns, a remote one 1 us, a store is
/// seen after 500 ns, a fence takes 200 ns. Block syncs and the executor's own work take nothing.
inline Machine roundMachine() {
  Machine machine;
  machine.name = "round";
  machine.gpusPerNode = 4;
  machine.multiprocessors = 100;
  MachineParameters &p = machine.parameters;
  p.link = p.store = p.load = p.copyEngine = p.multimem = 100;
  p.packet = 50;
  p.nic = 10;
  p.memory = 1000;
  p.blockCopy = 50;
  p.blockReduce = 60;
  p.blockMultimem = 5;
  p.copyDepth = 4;
  p.launch = 1;
  p.storeVisible = 0.5;
  p.loadRemote = 1;
  p.loadLocal = 0.25;
  p.fence = 0.2;
  p.barrier = 0.1;
  p.multimemLatency = 2;
  p.portPush = 0.3;
  p.proxy = 2;
  p.proxyWork = 0.4;
  p.hostPoll = 1.1;
  p.copyEngineLatency = 3;
  p.nicLatency = 5;
  return machine;
}

inline ir::Program programOf(const std::string &ranks, const std::string &head = "collective test\n") {
  ir::DiagnosticEngine diagnostics;
  const std::string text = "mscclc.ir 1\nprogram \"t\" {\n" + head + ranks + "}\n";
  auto program = ir::parse(text, "t.ir", diagnostics);
  INFO(text << diagnostics.render(false));
  REQUIRE(program);
  return std::move(*program);
}

} // namespace mscclc::passes::time
