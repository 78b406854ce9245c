"""usage: by_comment.py MSCCLC FOLDER WORK: compiles each source by the command line of its comment, to a plan in WORK that
is proven then, and to a kernel. The last words of a source's command line are `-o plan.json`, or of one for kernels alone
`--emit-cuda -o NAME.cu`."""
import json
import pathlib
import subprocess
import sys

mscclc, folder, work = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
work.mkdir(parents=True, exist_ok=True)
for source in sorted(folder.glob("*.cpp")):
    said = [line[5:].split() for line in source.read_text(encoding="utf-8").splitlines() if line.startswith("//   mscclc ")]
    forKernel = ["--emit-cuda", "-o", f"{source.stem}.cu"]
    isKernel = len(said) == 1 and said[0][-3:] == forKernel
    if len(said) != 1 or said[0][1] != source.name or (said[0][-2:] != ["-o", "plan.json"] and not isKernel):
        sys.exit(f"{source.name}: the comment has no command line")
    options, plan = said[0][2:-3] if isKernel else said[0][2:-2], work / f"{source.stem}.json"
    if not isKernel:
        subprocess.run([mscclc, source, *options, "-o", plan], check=True)
        subprocess.run([mscclc, plan, "--verify", "--target=mscclpp"], check=True, stdout=subprocess.DEVNULL)
    if "--message-size" in options:  # a size would be compiled in
        at = options.index("--message-size")
        del options[at:at + 2]
    kernel = [mscclc, source, *options, "--emit-cuda", "-o", "-"]
    text = subprocess.run(kernel, check=True, capture_output=True, text=True).stdout
    if f"mscclc_kernel_{source.stem}" not in text:
        sys.exit(f"{source.name}: no kernel of that name")
    made = "no plan" if isKernel else f"a plan of {len(json.loads(plan.read_text())['gpus'])} ranks"
    print(f"{source.stem}: {made}, a kernel")
