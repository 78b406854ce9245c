// Sums of operations, as tables: for each kind of them, and of two launches beside each other.

/**
 * Sums of `spans` for each kind of operation, longest first. `critical`: spans whose part of the critical path counts.
 */
function sumsByKind(launch, spans, critical = spans) {
  const kinds = new Map();
  const of = (span) => {
    const name = launch.wordOf(span);
    if (!kinds.has(name)) kinds.set(name, {name, count: 0, time: 0, critical: 0, bytes: 0});
    return kinds.get(name);
  };
  for (const span of spans) {
    const sums = of(span);
    sums.count++;
    sums.time += launch.end[span] - launch.start[span];
    sums.bytes += launch.bytesWritten(span);
  }
  for (const span of critical) of(span).critical += launch.timeOnPath.get(span) || 0;
  return [...kinds.values()].sort((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1));
}

/** How long blocks and proxies are at any of `spans`, in sum. Operations of a block that overlap count once. */
function busyTime(launch, spans) {
  const byBlock = new Map();
  for (const span of spans) {
    const {rank, proxy, block} = launch.rows[launch.rowOf[span]], key = `${rank} ${proxy} ${block}`;
    if (!byBlock.has(key)) byBlock.set(key, []);
    byBlock.get(key).push(span);
  }
  let busy = 0;
  for (const own of byBlock.values()) {
    let until = -Infinity;
    for (const span of own.sort((a, b) => launch.start[a] - launch.start[b])) {
      busy += Math.max(0, launch.end[span] - Math.max(until, launch.start[span]));
      until = Math.max(until, launch.end[span]);
    }
  }
  return busy;
}

/** One line of sums of all of `spans`, with `time` as busyTime() has it. */
function sumsOf(launch, spans, critical = spans) {
  const all = {name: "all", count: 0, time: busyTime(launch, spans), critical: 0, bytes: 0};
  for (const kind of sumsByKind(launch, spans, critical)) {
    all.count += kind.count;
    all.critical += kind.critical;
    all.bytes += kind.bytes;
  }
  return all;
}

/** A table of texts. The first column is of names, the others are of numbers. */
function madeTable(caption, head, rows) {
  const table = made("table", "sums"), body = document.createElement("tbody");
  const line = (cells, tag) => {
    const row = document.createElement("tr");
    row.append(...cells.map((cell) => made(tag, "", cell)));
    return row;
  };
  const top = document.createElement("thead");
  top.append(line(head, "th"));
  body.append(...rows.map((cells) => line(cells, "td")));
  table.append(made("caption", "", caption), top, body);
  return table;
}

function sumsTable(launch, spans, critical, caption) {
  const cells = ({name, count, time, critical, bytes}) =>
      [name, count.toLocaleString("en"), shownTime(time), critical ? shownTime(critical) : "",
       bytes ? shownBytes(bytes) : ""];
  return madeTable(
      caption, ["kind", "count", "time", "critical", "written"],
      [...sumsByKind(launch, spans, critical), sumsOf(launch, spans, critical)].map(cells));
}

/**
 * Answers those of one or two shown launches that sums are of, each with its spans. A selection is not compared with a
 * whole launch, nor one rank with all ranks.
 */
function summedOf(shown) {
  const selected = shown.filter(({found}) => found), summed = selected.length ? selected : shown;
  const folded = summed.every(({launch}) => launch.about.sameRanks);
  return summed.map((one) => ({one, spans: one.found ? one.found.spans : one.launch.representativeSpans(folded)}));
}

/** Two launches beside each other: totals, what the time goes to, and each kind of operation. */
function comparisonTable(launches, spans, captions) {
  const [a, b] = launches, rows = [];
  const add = (name, one, other, shown) => {
    if (one || other)
      rows.push([name, one ? shown(one) : "", other ? shown(other) : "", one && other ? (other / one).toFixed(2) : ""]);
  };
  add("time of the launch", a.about.total, b.about.total, shownTime);
  add("links alone", a.about.linkBound, b.about.linkBound, shownTime);
  add("latencies alone", a.about.latencyBound, b.about.latencyBound, shownTime);
  a.causes.forEach(
      (cause, i) =>
          add(`critical path: ${cause}`, Math.round(a.about.spent[i]), Math.round(b.about.spent[i]), shownTime));
  const kinds = launches.map((launch, i) => new Map(sumsByKind(launch, spans[i]).map((sums) => [sums.name, sums])));
  for (const name of new Set([...kinds[0].keys(), ...kinds[1].keys()])) {
    const [one, other] = kinds.map((own) => own.get(name) || {count: 0, time: 0, bytes: 0});
    add(`${name}: count`, one.count, other.count, (count) => count.toLocaleString("en"));
    add(`${name}: time`, one.time, other.time, shownTime);
    add(`${name}: written`, one.bytes, other.bytes, shownBytes);
  }
  return madeTable("two launches", ["", ...captions, "ratio"], rows);
}
