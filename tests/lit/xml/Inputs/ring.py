"""usage: ring.py GPUS CHUNKS STRIDE…: prints an all-reduce around rings, one for each stride between neighbours; each
ring takes CHUNKS chunks, and one thread block of each gpu."""
import sys

gpus, chunks, *strides = map(int, sys.argv[1:])
total = chunks * len(strides)
print(f'<algo name="ring" proto="Simple" ngpus="{gpus}" coll="allreduce" inplace="1" nchunksperloop="{total}">')
types = ["s"] + ["rrs"] * (gpus - 2) + ["rrcs"] + ["rcs"] * (gpus - 2) + ["r"]
for gpu in range(gpus):
    print(f'<gpu id="{gpu}" i_chunks="{total}" o_chunks="0" s_chunks="0">')
    for ring, stride in enumerate(strides):
        print(f'<tb id="{ring}" send="{(gpu + stride) % gpus}" recv="{(gpu - stride) % gpus}" chan="0">')
        moves = [(kind, ring * chunks + first + (gpu - t * stride) % gpus)
                 for t, kind in enumerate(types) for first in range(0, chunks, gpus)]
        for s, (kind, chunk) in enumerate(moves):
            print(f'<step s="{s}" type="{kind}" srcbuf="i" srcoff="{chunk}" dstbuf="i" dstoff="{chunk}" cnt="1" '
                  'depid="-1" deps="-1" hasdep="0"/>')
        print("</tb>")
    print("</gpu>")
print("</algo>")
