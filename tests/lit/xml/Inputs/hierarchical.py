"""usage: hierarchical.py GPUS RINGS: prints an all-reduce of two nodes: all GPUs of a node exchange shares and reduce
them, RINGS rings over the nodes reduce these, and all GPUs of a node exchange the sums."""
import sys

gpus, rings = map(int, sys.argv[1:])
size = 2 * rings  # chunks of a share
print(f'<algo name="hierarchical" proto="Simple" ngpus="{2 * gpus}" coll="allreduce" inplace="1" '
      f'nchunksperloop="{gpus * size}">')


def block(number, send, recv, channel, steps):
    print(f'<tb id="{number}" send="{send}" recv="{recv}" chan="{channel}">')
    for s, (kind, src, dst, count, (on, step), told) in enumerate(steps):
        print(f'<step s="{s}" type="{kind}" srcbuf="{src[0]}" srcoff="{src[1]}" dstbuf="{dst[0]}" dstoff="{dst[1]}" '
              f'cnt="{count}" depid="{on}" deps="{step}" hasdep="{told}"/>')
    print("</tb>")


free, nowhere = (-1, -1), ("i", -1)
for gpu in range(2 * gpus):
    print(f'<gpu id="{gpu}" i_chunks="{gpus * size}" o_chunks="{gpus * size}" s_chunks="{(gpus - 1) * size}">')
    here, own = gpu % gpus, ("i", gpu % gpus * size)
    peers = [peer for peer in range(gpus) if peer != here]
    reducer, ring = len(peers), len(peers) + 1  # thread blocks
    for number, peer in enumerate(peers):
        other, partner = ("i", peer * size), gpu - here + peer
        steps = [("s", other, ("s", 0), size, free, 0), ("r", own, ("s", number * size), size, free, 1)]
        steps += [("nop", nowhere, nowhere, 0, (ring + q, 2), 0) for q in range(rings)]
        steps += [("s", own, own, size, free, 0), ("r", other, other, size, free, 0)]
        block(number, partner, partner, 0, steps)
    block(reducer, -1, -1, 0, [("re", ("s", n * size), own, size, (n, 1), int(n + 1 == len(peers)))
                               for n in range(len(peers))])
    twin, node = (gpu + gpus) % (2 * gpus), gpu // gpus
    for q in range(rings):
        mine, twins = [("i", own[1] + 2 * q + which) for which in (node, 1 - node)]
        block(ring + q, twin, twin, 1 + q, [("s", mine, mine, 1, (reducer, len(peers) - 1), 0),
                                            ("rrcs", twins, twins, 1, free, 0), ("r", mine, mine, 1, free, 1)])
    print("</gpu>")
print("</algo>")
