"""usage: large.py races|blocks|steps|depth: prints a schedule with too much of it."""
import sys

what = sys.argv[1]
if what == "depth":
    print("<a>" * 1000000 + "</a>" * 1000000)
    sys.exit()
chunks = 2000 if what == "races" else 1
print(f'<algo name="a" proto="Simple" ngpus="1" coll="allreduce" inplace="1" nchunksperloop="{chunks}">')
print(f'<gpu id="0" i_chunks="{chunks}" o_chunks="0" s_chunks="{chunks}">')


def block(number, steps):
    print(f'<tb id="{number}" send="-1" recv="-1" chan="0">')
    for s, (src, at, dst, count) in enumerate(steps):
        print(f'<step s="{s}" type="cpy" srcbuf="{src}" srcoff="{at}" dstbuf="{dst}" dstoff="{at}" cnt="{count}" depid="-1" '
              'deps="-1" hasdep="0"/>')
    print("</tb>")


if what == "races":
    block(0, [("i", 0, "s", chunks)] * chunks)
    block(1, [("s", chunk, "i", 1) for chunk in range(chunks)])
elif what == "blocks":
    for number in range(513):
        block(number, [])
else:
    block(0, [("i", 0, "s", 1)] * 65536)
print("</gpu></algo>")
