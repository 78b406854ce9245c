#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Says of each movement statement which rank executes it, and through what.
///
/// A copy is put by the rank that has the source: through a memory channel inside a node, else through a port. Where a
/// statement says that the rank of the destination executes it, that rank reads the source; through a port or in
/// packets nobody can, which is an error. A reduction is done by the rank that gets the result. It reads operands of
/// its node where the program says `pull` or the statement names that rank; others are put into scratch of its own
/// first, each into a slot that only it uses. The order of a sum's operands stays as it is written. Statements of
/// several destinations become one for each, but for a switch, which reaches all ranks of a node at once; where the
/// program says `through_switch`, it does what it can of statements that leave open how they are done. Ranges of
/// several chunks are cut so that instances share out all memory alike (range_cuts.h).
///
/// Under protocol LL what crosses ranks goes through slots of scratch as packets; those for another node are made in
/// scratch of the sender first. What came in packets, and was not written over since, is passed on inside a node as
/// these packets, which are not unpacked on the way. What a Buffer is to keep stays in its slot as packets, if that is
/// so for all that Buffers of its rank keep: it comes from another rank, once, and is read at home alone. Else the rank
/// gets no packets. Where a reduction takes packets, an operand of its own rank behind the first one becomes packets
/// too, so that one operation takes them all. An executor does not switch halves of double scratch for plain data that
/// another rank, a port or a switch touches: for one, no rank gets packets where there are such data in scratch. A
/// statement that asks for packets and gets none is warned of.
///
/// Requires: a program of Schedule::Auto whose meaning is checked. Others stay as they are, and where it was placed
/// before, ranges alone are cut.
/// Provides: every statement has `by`. It is local, or `via` says how it reaches the one other rank (or with a switch
/// the node); `packets` is on where its data are packets, and off under LL where data crosses ranks without.
Pass createPlacePass();

} // namespace mscclc::passes
