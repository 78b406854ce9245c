// Search: every word typed must fit an operation. "rank 3", "block 2" and "line 21" name one; other words are looked
// for in the operation's name, its file and what bounded it.

/** Words of a query as tests of a span. */
function parseQuery(launch, query) {
  const tests = [];
  const rest = query.toLowerCase().replace(/\b(rank|block|port|line)\s+(\d+)/g, (_, what, number) => {
    const n = Number(number);
    tests.push({
      rank: (span) => launch.rows[launch.rowOf[span]].rank === n,
      block: (span) => !launch.isProxy(span) && launch.rows[launch.rowOf[span]].block === n,
      port: (span) => launch.isProxy(span) && launch.rows[launch.rowOf[span]].block === n,
      line: opTest(launch, (op) => launch.placesOf(op).some((place) => place.line === n)),
    }[what]);
    return " ";
  });
  const causes = launch.causes.map((cause) => cause.toLowerCase());
  for (const word of causes.some((cause) => cause === rest.trim()) ? [rest.trim()] :
                                                                     rest.split(/\s+/).filter(Boolean)) {
    const inOp = opTest(
        launch,
        (op) => launch.words[launch.opWord[op]].toLowerCase().includes(word) ||
            launch.placesOf(op).some((place) => launch.nameOf(place).toLowerCase().includes(word)));
    const bounds = causes.map((cause) => cause.includes(word));
    tests.push(
        (span) => bounds[launch.bound[span]] || (launch.isProxy(span) && "proxy".startsWith(word)) || inOp(span));
  }
  return tests;
}

/** A test of spans by their operation, each operation looked at once. */
function opTest(launch, is) {
  const known = new Int8Array(launch.numOps).fill(-1);
  return (span) => {
    const op = launch.op[span];
    if (known[op] < 0) known[op] = is(op) ? 1 : 0;
    return known[op] === 1;
  };
}

/** What a query finds; null if it has no words. */
function foundBy(launch, query) {
  const tests = parseQuery(launch, query);
  return tests.length ? new Found(launch, (span) => tests.every((test) => test(span))) : null;
}

/** What a search, a line of the source, a row or a frame around operations found. */
class Found {
  constructor(launch, is) {
    this.is = new Uint8Array(launch.numSpans);
    for (let i = 0; i < launch.numSpans; i++) this.is[i] = is(i) ? 1 : 0;
    this.before = launch.countBefore((span) => this.is[span] === 1);
    this.count = this.before[launch.numSpans];
    this.spans = new Uint32Array(this.count);
    for (let i = 0, n = 0; i < launch.numSpans; i++)
      if (this.is[i]) this.spans[n++] = i;
    this.spans.sort((a, b) => launch.start[a] - launch.start[b] || a - b);
  }
  /** The one `by` after `span`, round and round. */
  next(span, by) {
    const at = this.spans.indexOf(span);
    return this.spans[at < 0 ? 0 : (at + by + this.count) % this.count];
  }
}
