#pragma once

#include "passes/pass.h"

namespace mscclc::passes {

/// Decides for each movement statement which rank executes it, and through which transport.
///
/// The rank that has the source of a copy puts it: through a memory channel inside a node, else through a port. If a
/// statement says that the rank of the destination executes it, that rank reads the source. This is an error if the
/// data goes through a port or in packets, because such data cannot be read. The rank that gets the result of a
/// reduction computes it. It reads operands of its node if the program says `pull`, or if the statement names that
/// rank. Other operands are first put into scratch of that rank, each into its own slot. The operands of a sum stay in
/// the order of the source. A statement with several destinations becomes one statement for each. A switch is an
/// exception, because it reaches all ranks of a node at once. If the program says `through_switch`, the switch does all
/// statements that it can do and that leave their transport open. Ranges of several chunks are cut so that instances
/// share all memory in the same way (range_cuts.h).
///
/// Under protocol LL, data between ranks goes through slots of scratch as packets. Packets for another node are first
/// made in scratch of the sender. Inside a node, data that came in packets and was not overwritten is passed on as
/// these packets, without unpacking. The data of a Buffer stays in its slot as packets if all Buffers of its rank allow
/// that: the data comes from another rank, only once, and is read only at its own rank. Otherwise the rank receives no
/// packets. If a reduction takes packets, an operand of its own rank after the first operand becomes packets, too, so
/// that one operation takes all operands. An executor does not switch halves of double scratch for plain data that
/// another rank, a port or a switch touches. If there are such data in scratch, no rank receives packets on an
/// executor. There is a warning if a statement asks for packets but gets none.
///
/// This pass comes first, because all later passes of a schedule need the rank and the transport of each statement.
///
/// Requires: a program of Schedule::Auto whose meaning is checked. Other programs stay unchanged. If the program was
/// placed before, only ranges are cut. Provides: every statement has `by`. A statement is local, or `via` gives the
/// transport to the single other rank (with a switch, to the node). `packets` is true if the data is in packets. Under
/// LL, it is false if data between ranks is plain.
Pass createPlacePass();

} // namespace mscclc::passes
