"""usage: turns.py BLOCKS STEPS: prints an all-gather of two GPUs, in which each chunk goes to and fro between two places
of scratch before it is sent, STEPS times in each of BLOCKS thread blocks."""
import sys

blocks, steps = map(int, sys.argv[1:])
print('<algo name="turns" proto="Simple" ngpus="2" coll="allgather" inplace="0" nchunksperloop="2">')


def step(number, kind, src, dst, on):
    print(f'<step s="{number}" type="{kind}" srcbuf="{src[0]}" srcoff="{src[1:]}" dstbuf="{dst[0]}" dstoff="{dst[1:]}" '
          f'cnt="1" depid="{on}" deps="{steps - 1 if on >= 0 else -1}" hasdep="{int(kind == "cpy" and number + 1 == steps)}"/>')


for gpu in range(2):
    print(f'<gpu id="{gpu}" i_chunks="1" o_chunks="2" s_chunks="2">')
    at = "i0"
    for block in range(blocks):
        print(f'<tb id="{block}" send="-1" recv="-1" chan="0">')
        for number in range(steps):
            to = "s1" if at == "s0" else "s0"
            step(number, "cpy", at, to, block - 1 if number == 0 else -1)
            at = to
        print("</tb>")
    print(f'<tb id="{blocks}" send="{1 - gpu}" recv="{1 - gpu}" chan="0">')
    step(0, "s", at, f"o{gpu}", blocks - 1)
    step(1, "r", "i0", f"o{1 - gpu}", -1)
    step(2, "cpy", at, f"o{gpu}", -1)
    print("</tb></gpu>")
print("</algo>")
