// A child process from its start to its end, as most tests want it.
#pragma once

#include "frontend/eval/sandbox.h"

inline mscclc::frontend::ChildEnd runInChild(const std::function<int()> &body, double seconds) {
  mscclc::frontend::Child child(body);
  child.wait(seconds, seconds);
  return child.end();
}
