"""The page of --emit-html in headless Chromium: it loads, zooms, finds an operation by its source line, steps through
chunks, follows a signal from end to end, folds ranks, sums what is framed, shows two launches, is light and dark, and draws
a large launch fast. Pictures go to --pictures."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import chromium

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, "..", "..", "samples")


class Check:
    def __init__(self, mscclc, folder, pictures):
        self.mscclc, self.folder, self.pictures, self.failed = mscclc, folder, pictures, 0

    def true(self, holds, what):
        print(("ok    " if holds else "FAIL  ") + what, flush=True)
        self.failed += not holds

    def equal(self, is_, expected, what):
        self.true(is_ == expected, f"{what}: {is_}" + ("" if is_ == expected else f", expected {expected}"))

    def write(self, name, *arguments):
        path = os.path.join(self.folder, name + ".html")
        subprocess.run([self.mscclc, *arguments, "--emit-html", *([] if "--machine" in arguments else ["--machine", "h100x8"]), "-o", path], check=True)
        return path

    def picture(self, page, name):
        return page.screenshot(os.path.join(self.pictures, name + ".png") if self.pictures else None)


def point(page, span):
    """Returns the position on the page of the middle of a span."""
    page.value(f"(app.timeline.reveal({span}), 0)")
    page.frame()
    return page.value(f"""(() => {{ const box = app.timeline.canvas.getBoundingClientRect();
        return [box.x + (app.timeline.xOf(app.launch.start[{span}]) + app.timeline.xOf(app.launch.end[{span}])) / 2,
                box.y + app.timeline.yOf({span})]; }})()""")


def loads(check, page, path):
    page.open(path)
    check.equal(page.complaints, [], "loads without errors")
    check.equal([url for url in page.requests if not url.startswith(("file:", "data:", "about:"))], [], "asks for no other address")
    check.true(page.value("app.launch.numSpans") > 100, "has operations")
    check.equal(page.value("document.getElementById('program').textContent"), "allreduce_ring", "names the program")
    colours = """(() => { const {context} = app.timeline, {width, height} = app.timeline.canvas;
        const data = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
        return new Set(data).size; })()"""
    check.true(page.value(colours) > 8, "draws the timeline")
    check.equal(page.value("app.chunks.rank"), 0, "the moves of one rank are shown at first")


def zooms(check, page):
    length = page.value("app.t1 - app.t0")
    x, y = map(round, point(page, 5))
    time = "app.timeline.timeAt(%f - app.timeline.canvas.getBoundingClientRect().x)" % x
    before = page.value(time)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    page.frame()
    check.true(page.value("app.t1 - app.t0") < length * 0.7, "the wheel zooms in")
    check.true(abs(page.value(time) - before) < length / 1000, "what is below the pointer stays there")
    page.key("s")
    zoomed = page.value("app.t1 - app.t0")
    page.key("w")
    check.true(page.value("app.t1 - app.t0") < zoomed, "so do keys")
    page.key("0")
    check.true(abs(page.value("app.t1 - app.t0") - length) < 1, "and show all again")


def finds_by_line(check, page, source):
    number = next(i for i, line in enumerate(open(source), 1) if ".put(" in line)
    x, y = page.value(f"""(() => {{ const line = document.querySelector('.line[data-line="{number}"]');
        line.scrollIntoView({{block: "center"}}); const box = line.getBoundingClientRect(); return [box.x + 150, box.y + 8]; }})()""")
    page.click(x, y)
    check.equal(page.value("app.launch.words[app.launch.opWord[app.launch.op[app.selected]]]"), "put", f"line {number} leads to its operation")
    places = page.value("app.launch.placesOf(app.launch.op[app.selected])")
    check.equal(places[0]["line"], number, "which is of that line")
    check.equal(page.value("app.found.count"), page.value(f"""[...app.launch.op].filter((op) => app.launch.placesOf(op).some((one) => one.line === {number})).length"""), "all operations of the line are found")
    first = page.value("app.selected")
    page.key("n")
    check.true(page.value("app.selected") not in (first, -1), "n goes to the next")
    page.key("Escape")
    span = page.value("app.launch.pathSpans.find((span) => app.launch.bytes[span] > 0)")
    page.click(*point(page, span))
    check.equal(page.value("app.selected"), span, "a click on a bar selects its operation")
    check.equal(page.value("Number(document.querySelector('.line.on').dataset.line)"), page.value(f"app.launch.placesOf(app.launch.op[{span}])[0].line"), "and marks its line")
    page.key("/")
    page.type("put rank 2")
    page.value("new Promise((done) => setTimeout(done, 300))")
    check.equal(page.value("[...app.found.spans].every((i) => app.launch.wordOf(i).includes('put') && app.launch.rows[app.launch.rowOf[i]].rank === 2)"), True, "search finds what was typed")
    check.true(page.value("app.found.count") > 0, "and something at all")
    page.key("Escape")
    check.equal(page.value("app.found"), None, "Escape ends the search")


def tells(check, page):
    span = page.value("app.launch.pathSpans.find((span) => app.launch.bytes[span] > 0)")
    x, y = point(page, span)
    page.mouse("mouseMoved", x, y)
    page.frame()
    tip = page.value("document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText")
    for part in (page.value(f"app.launch.wordOf({span})"), "KiB", "bound by", "allreduce_ring.cpp:"):
        check.true(part in tip, f"the tip tells {part!r}")
    check.picture(page, "tip")
    page.mouse("mouseMoved", 5, 5)


def steps(check, page):
    """An AllReduce around a ring: at the start each rank has its own data, at the end the data of all."""
    page.key("m")
    check.equal(page.value("app.chunks.chooser.value"), "all", "m shows those of all")
    held = """(rank) => { const {contents} = app.chunks, [buffer, index, size] = app.launch.ranks[rank].input;
        return Array.from({length: size}, (_, i) => contents.ranksIn(contents.first[rank][buffer] + index + i).length); }"""
    page.key("Home")
    check.equal(set(page.value(f"({held})(3)")), {1}, "at first a chunk holds data of one rank")
    count = page.value("app.chunks.steps.length")
    seen, moments = [], []
    for _ in range(count):
        page.key("ArrowRight")
        moments.append(page.value("app.moment"))
        seen.append(page.value("app.chunks.moves.underWay(app.moment).length"))
    check.true(moments == sorted(set(moments)), f"{count} steps go on in time")
    check.true(all(seen), "and data is under way at each")
    total = page.value("""(() => { const {moves} = app.chunks, seen = new Set();
        for (const at of moves.steps) for (const span of moves.underWay(at)) seen.add(span);
        return seen.size === app.chunks.contents.moves.length; })()""")
    check.true(total, "each transfer is under way at a step")
    check.picture(page, "steps")
    page.key("ArrowLeft")
    check.equal(page.value("app.moment"), moments[-2], "a step back")
    page.key("End")
    check.equal([set(page.value(f"({held})({rank})")) for rank in range(8)], [{8}] * 8, "at the end each chunk is reduced from all ranks")
    page.key("Home")
    check.equal(set(page.value(f"({held})(3)")), {1}, "and back again")
    page.key(" ")
    page.value("new Promise((done) => setTimeout(done, 700))")
    check.true(page.value("app.moment") > 0, "play plays")
    page.key(" ")
    stopped = page.value("app.moment")
    page.value("new Promise((done) => setTimeout(done, 200))")
    check.equal(page.value("app.moment"), stopped, "and pauses")


def follows(check, page):
    page.key("Escape")
    wait = page.value("app.launch.pathSpans.find((span) => app.launch.heardFrom.of(span).length > 0)")
    sender = page.value(f"app.launch.heardFrom.of({wait})[app.launch.heardFrom.of({wait}).length - 1]")
    page.click(*point(page, wait))
    check.equal(page.value("app.followed"), [sender, wait], "a click on a wait shows the signal to it")
    check.picture(page, "signal")
    page.key("f")
    check.equal(page.value("app.selected"), sender, "f goes to what sent it")
    check.true(page.value(f"app.launch.rowOf[{wait}] !== app.launch.rowOf[{sender}]"), "on another row")
    page.key("f")
    check.equal(page.value("app.selected"), wait, "and back")
    page.key("Escape")
    page.key(".")
    path = page.value("app.launch.pathSpans.slice(0, 4)")
    steps = [page.value("app.selected")]
    for _ in range(3):
        page.key(".")
        steps.append(page.value("app.selected"))
    check.equal(steps, path, "keys step along the critical path")
    page.key(",")
    check.equal(page.value("app.selected"), path[2], "and back")


def folds(check, page, path):
    """Ranks that do the same are one line, which opens; a frame and a block's name give sums."""
    page.open(path)
    check.equal(page.value("app.timeline.heads.map((head) => head.text)"), ["rank 0", "ranks 1–7: as rank 0"], "ranks that do the same are folded")
    check.true(page.value("app.links.series.every((one) => one.rank === 0)"), "and so are their links")
    words = page.value("document.getElementById('legend').innerText")
    check.true("pale: latency; dark: data flows" in words, "the legend says what pale and dark mean")
    left, top = page.value("(() => { const box = app.timeline.canvas.getBoundingClientRect(); return [box.x, box.y]; })()")
    page.click(left + 40, top + page.value("axisHeight + app.timeline.heads[1].top - app.timeline.scroll") + 8)
    check.equal(page.value("app.timeline.heads.length"), 9, "a click opens the fold")
    check.true(page.value("app.links.series.some((one) => one.rank === 7)"), "with its links")
    page.click(left + 60, top + page.value("axisHeight + app.timeline.shown[0].top - app.timeline.scroll") + 8)
    check.true(page.value("app.found.count > 0 && [...app.found.spans].every((span) => app.timeline.isOfBlock(span, app.timeline.shown[0]))"), "a click on a block's name takes its operations")
    check.true("written" in page.value("document.querySelector('.sums').innerText"), "whose sums are shown")
    page.key("Escape")
    span = page.value("app.launch.pathSpans.find((span) => app.launch.bytes[span] > 0 && app.launch.rankOf(span) === 0)")
    x, y = point(page, span)
    page.drag(x - 3, y - 2, x + 3, y + 3)
    check.true(page.value(f"app.found && app.found.is[{span}] === 1"), "a frame takes what it touches")
    check.true(page.value("app.found.count") < page.value("app.launch.numSpans") / 8, "and no more")
    shown = page.value("document.getElementById('details-body').innerText")
    check.true(page.value("shownBytes(sumsOf(app.launch, app.found.spans).bytes)") in shown, "with the sum of their bytes")
    check.picture(page, "frame")
    page.key("Escape")


def compares(check, page, path, other):
    """A page of two sizes: either is shown, and one below the other. Another page may be added."""
    page.open(path)
    check.equal(page.value("[...document.getElementById('launch').options].length"), 2, "a page of two sizes has two launches")
    page.value("app.open(1)")
    check.equal(page.value("app.launch.about.bytes"), 64 << 20, "the second one may be shown")
    page.value("app.setBeside(0)")
    page.frame()
    check.true(page.value("document.getElementById('beside').clientHeight") > 100, "and the first one below it")
    check.equal(page.value("app.beside.launch.about.bytes"), 4096, "on the same axis")
    check.equal(page.value("app.lower.timeline.xOf(5000) === app.timeline.xOf(5000)"), True, "where times are at one place")
    check.equal(page.value("document.querySelectorAll('.sums th').length"), 4, "a table has both")
    check.picture(page, "two")
    with open(other, encoding="utf-8") as file:
        text = file.read()
    page.value(f"(app.chooser.addPage({json.dumps(text)}, 'other.html'), 0)")
    page.frame()
    check.equal(page.value("app.launches.all.length"), 3, "another page may be added")
    check.equal(page.value("app.beside.launch.about.program"), "allreduce_ring", "and is shown below")
    page.value("(app.chooser.addPage('<p>no</p>', 'no.html'), 0)")
    check.true("no.html is no page" in page.value("document.getElementById('details-body').innerText"), "what is no page is refused")
    page.value("app.setBeside(-1)")
    page.frame()
    check.equal(page.value("document.getElementById('beside').clientHeight"), 0, "nothing beside again")
    check.equal(page.complaints, [], "no errors with two launches")


def ends_right(check, page, name, *arguments):
    """At the end of a launch, chunks contain what the collective promises, whether blocks, proxies or a switch moved
    the data."""
    page.open(check.write(name, os.path.join(SAMPLES, name + ".cpp"), *arguments))
    page.key("End")
    held = page.value("""app.launch.ranks.map((_, rank) => { const {contents} = app.chunks, {about} = app.launch;
        const buffer = about.collective === "allgather" || !about.inPlace ? 1 : 0;
        return Array.from({length: contents.sizes[rank][buffer]}, (_, i) => contents.ranksIn(contents.first[rank][buffer] + i)); })""")
    ranks = len(held)
    if name.startswith("allreduce"):
        right = all(chunk == list(range(ranks)) for own in held for chunk in own)
    elif name.startswith("reducescatter"):
        share = len(held[0]) // ranks
        right = all(held[rank][rank * share + i] == list(range(ranks)) for rank in range(ranks) for i in range(share))
    else:  # an AllGather's output, an AllToAll's: a share of each rank
        share = len(held[0]) // ranks
        right = all(chunk == [i // share] for own in held for i, chunk in enumerate(own))
    check.true(right and held[0], f"{name}: {ranks} ranks hold at the end what they should")


def schemes(check, page):
    background = "getComputedStyle(document.body).backgroundColor"
    pixel = "app.timeline.context.getImageData(app.timeline.canvas.width - 2, app.timeline.canvas.height - 2, 1, 1).data[0]"
    page.prefer("dark")
    page.frame()
    dark, dark_pixel = page.value(background), page.value(pixel)
    check.picture(page, "dark")
    page.prefer("light")
    page.frame()
    light, light_pixel = page.value(background), page.value(pixel)
    check.picture(page, "light")
    check.true(dark != light and dark_pixel < 100 < light_pixel, f"dark and light as the browser asks: {dark}, {light}")
    page.key("t")
    check.equal(page.value(background), dark, "t changes it")
    page.key("t")
    page.key("?")
    check.equal(page.value("document.getElementById('help').open"), True, "? lists the keys")
    check.picture(page, "help")
    page.value("document.getElementById('help').close()")


def draws_fast(check, page, path):
    page.open(path)
    check.equal(page.complaints, [], "a large launch loads without errors")
    spans = page.value("app.launch.numSpans")
    check.true(spans > 19000, f"{page.value('app.launch.ranks.length')} ranks, 32 blocks each, {spans} operations")
    for name, change in (("zooming", "app.zoom(k < 45 ? 0.93 : 1.07)"), ("scrolling", "app.timeline.scrollTo(k * 20)"), ("moving", "app.pan(0.01)")):
        # Chromium paints here without a GPU, so what a frame takes is more than on a user's machine.
        times = page.value("""(async () => { const times = []; app.fit();
            for (let k = 0; k < 90; k++) { %s; const from = performance.now(); app.draw(); times.push(performance.now() - from);
              await new Promise(requestAnimationFrame); }
            return times.sort((a, b) => a - b); })()""" % change)
        print(f"      {name}: {times[45]:.1f} ms a frame in the median, {times[85]:.1f} ms at the 95th percentile")
    check.picture(page, "large")


def of_a_plan(check, page, plan):
    path = check.write("plan", plan, "--size", "1M")
    page.open(path)
    check.equal(page.complaints, [], "a plan's page loads without errors")
    page.key(".")
    check.true("$.gpus[" in page.value("document.getElementById('details-body').innerText"), "an operation of a plan has its path")


def holds_in(check, page):
    """Names come from the input and may be anything."""
    name = '</script><script>document.title = "out"</script><!--'
    source = os.path.join(check.folder, "names.cpp")
    text = open(os.path.join(SAMPLES, "sendrecv.cpp")).read()
    with open(source, "w") as file:
        file.write(text + "\n// </script><img src=x onerror='document.title=\"out\"'>\n")
    path = check.write("names", source, "--name", name, "--size", "1M")
    page.open(path)
    check.equal(page.complaints, [], "odd names do no harm")
    check.equal(page.value("document.getElementById('program').textContent"), name, "and are shown as they are")
    check.true(page.value("document.title") != "out", "and run nothing")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mscclc")
    parser.add_argument("--pictures", help="a folder for screenshots")
    options = parser.parse_args()
    program = chromium.find()
    if not program:
        print("[SKIP] Chromium is not installed")
        return 0
    with tempfile.TemporaryDirectory(prefix="mscclc-view-") as folder:
        check = Check(options.mscclc, folder, options.pictures)
        if options.pictures:
            os.makedirs(options.pictures, exist_ok=True)
        source = os.path.join(SAMPLES, "allreduce_ring.cpp")
        ring = check.write("ring", source, "-P", "ranks=8", "--size", "1M")
        plan = os.path.join(folder, "ring.json")
        subprocess.run([options.mscclc, source, "-P", "ranks=8", "-o", plan], check=True)
        large = check.write("large", os.path.join(HERE, "large.cpp"), "-P", "rounds=14", "--target", "none", "-O1", "--size", "32M")
        page = chromium.Page(program)
        try:
            page.prefer("light")
            loads(check, page, ring)
            zooms(check, page)
            finds_by_line(check, page, source)
            tells(check, page)
            steps(check, page)
            follows(check, page)
            schemes(check, page)
            folds(check, page, check.write("same", os.path.join(SAMPLES, "allgather_allpairs.cpp"), "-P", "ranks=8", "--size", "1M"))
            compares(check, page, check.write("sizes", os.path.join(SAMPLES, "auto", "allreduce_allpairs.cpp"), "--size", "4K,64M"), ring)
            two_nodes = ("--machine", "h100x8*2")
            ends_right(check, page, "allreduce_packets", "-P", "ranks=8", "--size", "64K")
            ends_right(check, page, "allreduce_nvls", "-P", "ranks=8", "--size", "16M")
            ends_right(check, page, "allreduce_pipeline", "-P", "ranks=4", "--size", "16M")
            ends_right(check, page, "allgather_hierarchical", "--size", "16M", *two_nodes)
            ends_right(check, page, "reducescatter_allpairs", "-P", "ranks=8", "--size", "1M")
            ends_right(check, page, "alltoall", "-P", "ranks=4", "--size", "1M")
            of_a_plan(check, page, plan)
            holds_in(check, page)
            draws_fast(check, page, large)
            check.equal(page.complaints, [], "no errors to the end")
        finally:
            page.close()
    print(f"{check.failed} failed")
    return 1 if check.failed else 0


if __name__ == "__main__":
    sys.exit(main())
