"""usage: rooted.py broadcast|reduce RANKS ROOT: prints a schedule out of place in which the root sends to all, or receives from all."""
import sys

coll, ranks, root = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
others = [r for r in range(ranks) if r != root]
print(f'<algo name="{coll}" proto="Simple" ngpus="{ranks}" coll="{coll}" inplace="0" nchunksperloop="2">')


def block(number, peer, receives, kind, src, dst, depends=-1):
    print(f'<tb id="{number}" send="{-1 if receives else peer}" recv="{peer if receives else -1}" chan="0">'
          f'<step s="0" type="{kind}" srcbuf="{src}" srcoff="0" dstbuf="{dst}" dstoff="0" cnt="2" depid="{depends}" '
          f'deps="{min(depends, 0)}" hasdep="1"/></tb>')


for rank in range(ranks):
    print(f'<gpu id="{rank}" i_chunks="2" o_chunks="2" s_chunks="0">')
    if rank == root:
        block(0, -1, False, "cpy", "i", "o")
        for number, peer in enumerate(others, 1):
            if coll == "broadcast":
                block(number, peer, False, "s", "i", "o")
            else:
                block(number, peer, True, "rrc", "o", "o", number - 1)
    else:
        receives = coll == "broadcast"
        block(0, root, receives, "r" if receives else "s", "i", "o")
    print("</gpu>")
print("</algo>")
