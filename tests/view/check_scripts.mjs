// The scripts and the data of the page of --emit-html, without a browser: which ranks are folded, what sums say, whose
// moves are shown, several launches in a page, and whether labels can be read (WCAG 2.1, level AA: 4.5 to 1).
// usage: node check_scripts.mjs MSCCLC
import {spawnSync} from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import {fileURLToPath} from "node:url";
import vm from "node:vm";

const mscclc = process.argv[2], samples = fileURLToPath(new URL("../../samples", import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mscclc-view-"));
let failed = 0;

function check(holds, what) {
  console.log((holds ? "ok    " : "FAIL  ") + what);
  failed += !holds;
}
function equal(is, expected, what) {
  const [a, b] = [is, expected].map((one) => JSON.stringify(one));
  check(a === b, a === b ? what : `${what}: ${a}, expected ${b}`);
}
const near = (a, b) => Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b)) + 2;

/** The page of a program: its text, its scripts to be asked, and its launches. */
function pageOf(program, ...options) {
  const file = path.join(folder, "view.html");
  const {status, stderr} =
      spawnSync(mscclc, [path.join(samples, program), "--emit-html", "-o", file, ...options], {encoding: "utf8"});
  if (status !== 0) throw new Error(stderr);
  const text = fs.readFileSync(file, "utf8");
  const data = [...text.matchAll(/<script type="application\/json" class="launch">(.*?)<\/script>/gs)].map(([, one]) => one);
  const script = text.slice(text.lastIndexOf('"use strict";'), text.lastIndexOf("// Starts the page."));
  const context = vm.createContext({});
  vm.runInContext(script, context);
  const ask = (expression) => vm.runInContext(expression, context);
  context.data = data;
  ask("var launches = data.map((one) => new Launch(JSON.parse(one)))");
  return {text, ask, count: data.length, bytes: text.length};
}
const all = "Uint32Array.from({length: launch.numSpans}, (_, i) => i)";
const ofRank = (rank) => `${all}.filter((span) => launch.rankOf(span) === ${rank})`;
const headsOf = (page) => page.ask("groups.heads().map((head) => head.text)");
const begin = (page, number = 0) => page.ask(`var launch = launches[${number}], groups = new Groups(launch), contents = new Contents(launch)`);

function folds() {
  const page = pageOf("allgather_allpairs.cpp", "-P", "ranks=8", "--size", "1M");
  begin(page);
  equal(headsOf(page), ["rank 0", "ranks 1–7: as rank 0"], "ranks that do the same are one line");
  equal(page.ask("[3, 0].map((rank) => groups.lists(rank))"), [false, true], "and their links are left out");
  page.ask("groups.reveal(3)");
  equal(headsOf(page).slice(0, 5), ["rank 0", "ranks 1–7: as rank 0", "rank 1", "rank 2", "rank 3"], "until one of them is to be seen");
  equal(page.ask("groups.heads().filter((head) => groups.isOpen(head)).map((head) => head.key)"), ["rank 0", "fold", "rank 3"], "which alone is open");
  page.ask(`var sums = Array.from({length: 8}, (_, rank) => sumsByKind(launch, ${all}.filter((span) => launch.rankOf(span) === rank))
      .map(({name, count, bytes, time}) => [name, count, bytes, time]))`);
  check(page.ask("sums.every((one) => JSON.stringify(one) === JSON.stringify(sums[0]))"), "they really do the same, in the same time");

  const chain = pageOf("reduce_chain.cpp", "-P", "ranks=4", "--size", "1M");
  begin(chain);
  equal(headsOf(chain), ["rank 0", "rank 1", "rank 2", "rank 3"], "ranks that differ are not folded");
  check(!chain.ask("launch.about.sameRanks") && chain.ask("groups.heads().every((head) => groups.isOpen(head))"), "and are open");

  const nodes = pageOf("auto/allgather_hierarchical.cpp", "-P", "nodes=2", "-P", "gpus=8", "--size", "1M", "--machine", "h100x8*2");
  begin(nodes);
  equal(headsOf(nodes), ["node 0", "rank 0", "ranks 1–7: as rank 0", "node 1: as rank 0"], "ranks are grouped by node");
  nodes.ask(`var document = {getElementById: () => ({})}, canvas = {addEventListener() {}, clientHeight: 40};
      var links = new LinksView(canvas, {launch, timeline: {groups}}); links.begin(); var few = links.series.length`);
  nodes.ask("groups.toggle({key: 'node 1'}); links.fold(); links.scrollTo(1e6); var many = links.series.length, far = links.scroll");
  nodes.ask("groups.toggle({key: 'node 1'}); links.fold()");
  check(nodes.ask("many > few && few * 20 > 40 && far === many * 20 - 40"), "links of the other node follow when it opens");
  check(nodes.ask("links.scroll === few * 20 - 40"), "and what is scrolled to is there when it closes");
  nodes.ask("groups.reveal(12)");
  equal(headsOf(nodes).slice(3, 6), ["node 1: as rank 0", "rank 8", "rank 9"], "the other node opens, too");
  equal(nodes.ask("groups.heads().filter((head) => groups.isOpen(head)).map((head) => head.key)"), ["node 0", "rank 0", "node 1", "rank 12"], "with one rank of it");
}

function sums() {
  const page = pageOf("allgather_allpairs.cpp", "-P", "ranks=8", "--size", "1M");
  begin(page);
  page.ask(`var own = ${ofRank(0)}, kinds = sumsByKind(launch, own), total = sumsOf(launch, own)`);
  equal(page.ask("[...launch.representativeSpans()]"), page.ask("[...own]"), "sums of the launch are of rank 0");
  equal(page.ask("kinds.find((kind) => kind.bytes > 0).bytes"), 7 << 17, "rank 0 moves its share seven times");
  equal(page.ask("total.bytes"), 7 << 17, "which is all that moves");
  equal(page.ask("total.count"), page.ask("kinds.reduce((sum, kind) => sum + kind.count, 0)"), "kinds are all operations");
  page.ask(`var whole = sumsOf(launch, ${all}), outside = launch.path.filter((step) => step.span < 0).reduce((sum, step) => sum + step.to - step.from, 0)`);
  check(near(page.ask("whole.critical + outside"), page.ask("launch.about.total")), "critical times are all of the launch");
  page.ask("var stands = sumsOf(launch, launch.representativeSpans(), [...launch.timeOnPath.keys()])");
  check(near(page.ask("stands.critical"), page.ask("whole.critical")), "also beside the sums of the rank that represents all");
  check(page.ask("kinds.every((kind, i) => i === 0 || kinds[i - 1].time >= kind.time)"), "the longest kind is first");
  page.ask("var two = [...own].slice(0, 2), first = launch.start[two[0]], last = launch.end[two[1]]");
  equal(page.ask("busyTime(launch, [two[0], two[0]])"), page.ask("launch.end[two[0]] - first"), "operations that overlap count once");
}

function moves() {
  const page = pageOf("allreduce_ring.cpp", "-P", "ranks=8", "--size", "1M");
  begin(page);
  page.ask("var one = new Moves(contents, 2), every = new Moves(contents, null)");
  check(page.ask("one.moves.length > 0 && one.moves.every((span) => launch.rankOf(span) === 2)"), "the moves of one rank are its own");
  check(page.ask("one.ranks.includes(2) && one.ranks.length < 8"), "with the ranks that they reach alone");
  equal(page.ask("every.ranks.length"), 8, "all moves have all ranks");
  for (const name of ["one", "every"]) {
    const seen = page.ask(`var seen = new Set(); for (const at of ${name}.steps) for (const span of ${name}.underWay(at)) seen.add(span); seen.size`);
    equal(seen, page.ask(`${name}.moves.length`), `each of ${seen} moves is under way at a step`);
  }
}

function launches() {
  const page = pageOf("auto/allreduce_allpairs.cpp", "-P", "ranks=8", "--size", "4K,64M");
  equal(page.count, 2, "a page has a launch for each size");
  equal(page.ask("launches.map(({about}) => [about.bytes, about.scheduledFor])"), [[4096, 4096], [64 << 20, 64 << 20]], "each scheduled for its size");
  const one = pageOf("auto/allreduce_allpairs.cpp", "-P", "ranks=8", "--size", "4K,64M", "--message-size", "1M");
  equal(one.ask("launches.map(({about}) => [about.bytes, about.scheduledFor])"), [[4096, 1 << 20], [64 << 20, 1 << 20]], "or all for one");
  check(one.ask("launches[0].about.total < launches[1].about.total"), "they take their times");

  begin(one);
  one.ask("var same = launch.withOwnRows(); launch.rows[0].top = 5; same.rows[0].top = 7");
  equal(one.ask("[launch.rows[0].top, same.rankOf(launch.numSpans - 1)]"), [5, 7], "a launch is also beside itself, in rows of its own");
  one.ask("var unlike = launch.withOwnRows(); unlike.about = {...launch.about, sameRanks: false}");
  one.ask("var counts = (...shown) => summedOf(shown).map(({one, spans}) => [one.launch === launch, spans.length])");
  const [whole, own] = one.ask("[launch.numSpans, launch.representativeSpans().length]");
  check(own < whole, "rank 0 has a part of the operations");
  equal(one.ask("counts({launch}, {launch: same})"), [[true, own], [false, own]], "launches are compared by the rank that represents all");
  equal(one.ask("counts({launch}, {launch: unlike})"), [[true, whole], [false, whole]], "or by all ranks, where one's ranks differ");
  one.ask("var found = new Found(launch, (span) => span < 3), other = new Found(same, (span) => span < 2)");
  equal(one.ask("counts({launch, found}, {launch: same})"), [[true, 3]], "a selection is not compared with a launch");
  equal(one.ask("counts({launch}, {launch: same, found: other})"), [[false, 2]], "nor is one below");
  equal(one.ask("counts({launch, found}, {launch: same, found: other})"), [[true, 3], [false, 2]], "but with a selection");
}

function sizes() {
  for (const [ranks, most] of [[64, 12e6], [256, 64e6]]) {
    const {bytes} = pageOf("auto/allreduce_hierarchical.cpp", "-P", `nodes=${ranks / 8}`, "-P", "gpus=8", "--size", "1M", "--machine", `h100x8*${ranks / 8}`);
    check(bytes < most, `a page of ${ranks} ranks has ${bytes} bytes`);
  }
}

/** The contrast of two colours, as [red, green, blue] of 255. */
function contrast(a, b) {
  const light = (color) => {
    const [red, green, blue] = color.map((one) => one / 255).map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
function colorOf(hex) {
  const full = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit).join("") : hex.slice(1);
  return [0, 2, 4].map((at) => parseInt(full.slice(at, at + 2), 16));
}

function labels() {
  const page = pageOf("sendrecv.cpp", "--size", "1M"), worst = [];
  const add = (what, text, ground) => worst.push([contrast(text, ground), what]);
  const alpha = Number(page.ask("paleness").match(/([.\d]+)\)$/)[1]), pale = (color) => color.map((one) => one + (255 - one) * alpha);
  for (const {name, color, text} of page.ask("classes")) {
    add(`${name}`, colorOf(text), colorOf(color));
    add(`${name}, its pale part`, colorOf("#000"), pale(colorOf(color)));
  }
  page.ask("rankColors").forEach((color, i) => add(`chunk of rank ${i}`, colorOf(page.ask(`rankTexts[${i}]`)), colorOf(color)));
  add("chunk of some ranks", colorOf("#000"), colorOf(page.ask("okabeIto.sky")));
  const schemes = {light: /:root \{(.*?)\}/s, dark: /:root\[data-theme="dark"\] \{(.*?)\}/s};
  const shares = {light: page.text.match(/\n\.line \.share \{[^}]*?color: (#\w+)/)[1], dark: page.text.match(/dark"\] \.line \.share \{ color: (#\w+)/)[1]};
  for (const [scheme, block] of Object.entries(schemes)) {
    const names = Object.fromEntries([...page.text.match(block)[1].matchAll(/--([\w-]+): (#\w+)/g)].map(([, name, color]) => [name, colorOf(color)]));
    names.share = colorOf(shares[scheme]);
    for (const text of ["text", "faint"])
      for (const ground of ["page", "pane", "row"]) add(`${scheme}: ${text} on ${ground}`, names[text], names[ground]);
    for (const text of ["text", "faint", "share", "c-keyword", "c-comment", "c-string", "c-number"])
      for (const ground of ["pane", "row", "mark"]) add(`${scheme}: ${text} in source on ${ground}`, names[text], names[ground]);
    add(`${scheme}: links`, names.accent, names.pane);
    add(`${scheme}: chunk of all ranks`, colorOf(scheme === "dark" ? "#000" : "#fff"), names.full);
  }
  check(worst.length > 60, `${worst.length} pairs of colours of text`);
  for (const [ratio, what] of worst) if (ratio < 4.5) check(false, `${what}: contrast ${ratio.toFixed(2)}`);
  console.log(`      the least contrast is ${Math.min(...worst.map(([ratio]) => ratio)).toFixed(2)}`);
}

try {
  folds();
  sums();
  moves();
  launches();
  labels();
  sizes();
} finally {
  fs.rmSync(folder, {recursive: true});
}
console.log(`${failed} failed`);
process.exit(failed ? 1 : 0);
