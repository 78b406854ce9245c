"""Prints IR text of a race; its operations stand in line 1 of the given file."""
import sys

print(
    f"""mscclc.ir 1
program "p" {{
  collective allgather
  rank 0 {{
    buffers input 1 output 1
    block 0 {{
      copy output[0:1] <- input[0:1] @1
    }}
    block 1 {{
      copy output[0:1] <- input[0:1] @1
    }}
  }}
}}
locations {{
  file0 = "{sys.argv[1]}"
  @1 = file0:1:1
}}"""
)
