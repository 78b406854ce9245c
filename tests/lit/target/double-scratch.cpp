// Every second launch uses the second half of double scratch. The executor goes there for a block's own accesses and
// for packets, but not for plain data that a switch or a port reaches.
// RUN: %verify --prefix=stored %s --no-verify -P what=0
// RUN: %verify --prefix=reduced %s --no-verify -P what=1
// RUN: %verify --prefix=sent %s --no-verify -P what=2
// RUN: mscclc %s --no-verify -P what=2 --target=none -o /dev/null
// RUN: mscclc %s --no-verify -P what=2 --emit-cuda -o /dev/null
// RUN: mscclc %s --no-verify -P what=3 -o /dev/null
// stored-warning@"program 'halves'" {{a launch of 0 bytes changes halves of double scratch}}
// reduced-warning@"program 'halves'" {{a launch of 0 bytes changes halves of double scratch}}
// sent-warning@"program 'halves'" {{a launch of 0 bytes changes halves of double scratch}}
#include <mscclc/dsl.hpp>
using namespace mscclc;

MSCCLC_ALGORITHM void halves(int what = 0) {
  CollectiveProgram program("halves", AllGather(2, 1, false), {.doubleScratch = true});
  Buffer mine(0, 1), theirs(1, 1);
  SwitchChannel group({0, 1}, BufferType::Scratch);
  Rank self(0);
  switch (what) {
  case 0:
    // stored-error@+1 {{mscclpp-1f5f065d does not switch halves of double scratch for 'broadcast', so every second launch would be wrong; a baked kernel (--emit-cuda --target=none) does it right}}
    group.atRank(0).broadcast(self.input()[0], 0, 1, tb(0));
    break;
  case 1:
    // reduced-error@+1 {{mscclpp-1f5f065d does not switch halves of double scratch for 'switch reduce and broadcast'}}
    group.atRank(0).reduce(0, 1, mine[0], tb(0));
    group.atRank(0).broadcast(mine[0], 0, 1, tb(0));
    break;
  case 2:
    // sent-error@+1 {{mscclpp-1f5f065d does not switch halves of double scratch for 'putWithSignal'}}
    PortChannel(1, 0).putWithSignal(Rank(1).output()[0], mine[0], tb(0));
    break;
  default:
    self.copy(self.output()[0], mine[0], tb(0));
  }
}
