// The launch as the compiler wrote it, in typed arrays, with what is looked up often.

/** The first index in [low, high) for which is() holds; it must hold from there on. */
function firstWhere(low, high, is) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (is(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/** Lists of numbers one after the other: those of i are items[first[i]] to items[first[i + 1]]. */
class Lists {
  constructor(count, pairs) {
    this.first = new Uint32Array(count + 1);
    for (const [owner] of pairs()) this.first[owner + 1]++;
    for (let i = 0; i < count; i++) this.first[i + 1] += this.first[i];
    this.items = new Uint32Array(this.first[count]);
    const next = this.first.slice();
    for (const [owner, item] of pairs()) this.items[next[owner]++] = item;
  }
  of(owner) { return this.items.subarray(this.first[owner], this.first[owner + 1]); }
}

/** Positions at which the entries of consecutive lists begin, from their lengths. */
function beginnings(lengths, unit) {
  const first = new Uint32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) first[i + 1] = first[i] + lengths[i] * unit;
  return first;
}

class Launch {
  constructor(json) {
    Object.assign(this, {
      about: json.about,
      ranks: json.ranks,
      buffers: json.buffers,
      words: json.words,
      causes: json.causes,
      elements: json.elements,
      files: json.files
    });
    this.readOperations(json.ops);
    this.readSpans(json.rows, json.spans);
    this.readMessages(json.messages);
    this.readPath(json.path);
    this.traffic = json.traffic.map(
        ([kind, rank, peer, bytes, capacity]) => ({kind, rank, peer, bytes, capacity: capacity / 1e3}));
    this.rates = json.rates;
  }

  readOperations(ops) {
    this.numOps = ops.word.length;
    this.opWord = Uint16Array.from(ops.word);
    this.opClass = Uint8Array.from(ops.class);
    this.pairwise = Uint8Array.from(ops.pairwise);
    this.numReads = Uint32Array.from(ops.reads);
    this.operands = Uint32Array.from(ops.operands);
    this.firstOperand = beginnings(ops.reads.map((reads, i) => reads + ops.writes[i]), 4);
    this.places = Uint32Array.from(ops.places);
    this.firstPlace = beginnings(ops.placeCount, 3);
  }

  readSpans(rows, spans) {
    this.numSpans = spans.op.length;
    this.op = Uint32Array.from(spans.op);
    this.bound = Uint8Array.from(spans.bound);
    this.iteration = Uint32Array.from(spans.iteration);
    this.bytes = Float64Array.from(spans.bytes);
    this.pair = Uint16Array.from(spans.pair);
    this.start = new Float64Array(this.numSpans);
    this.moving = new Float64Array(this.numSpans);
    this.end = new Float64Array(this.numSpans);
    this.rowOf = new Uint32Array(this.numSpans);
    this.rows = [];
    let span = 0;
    for (let at = 0; at < rows.length; at += 4) {
      const row =
          {rank: rows[at], proxy: rows[at + 1] === 1, block: rows[at + 2], first: span, last: span + rows[at + 3]};
      for (let time = 0; span < row.last; span++) {
        time += spans.start[span];
        this.start[span] = time;
        this.moving[span] = time + spans.wait[span];
        this.end[span] = time + spans.length[span];
        this.rowOf[span] = this.rows.length;
      }
      this.rows.push(row);
    }
    const self = this;
    this.spansOfOp = new Lists(this.numOps, function*() {
      for (let i = 0; i < self.numSpans; i++) yield [self.op[i], i];
    });
  }

  /** Messages in the order in which they were sent. */
  readMessages(flat) {
    const order = Uint32Array.from({length: flat.length / 2}, (_, i) => i)
                      .sort((a, b) => this.end[flat[2 * a]] - this.end[flat[2 * b]]);
    this.from = Uint32Array.from(order, (i) => flat[2 * i]);
    this.to = Uint32Array.from(order, (i) => flat[2 * i + 1]);
    this.longestMessage = 0;
    for (let i = 0; i < this.from.length; i++)
      this.longestMessage = Math.max(this.longestMessage, this.end[this.to[i]] - this.end[this.from[i]]);
    const ends = (keys, values) => new Lists(this.numSpans, function*() {
      for (let i = 0; i < keys.length; i++) yield [keys[i], values[i]];
    });
    this.sentTo = ends(this.from, this.to);
    this.heardFrom = ends(this.to, this.from);
  }

  readPath(flat) {
    this.path = [];
    this.timeOnPath = new Map();  // span -> nanoseconds
    for (let at = 0; at < flat.length; at += 4) {
      const [span, cause, from, to] = flat.slice(at, at + 4);
      if (span >= 0) this.timeOnPath.set(span, (this.timeOnPath.get(span) || 0) + to - from);
      const last = this.path[this.path.length - 1];
      if (last && last.span === span)
        last.to = to;
      else
        this.path.push({span, from, to, cause});
    }
    this.pathSpans = this.path.filter((step) => step.span >= 0).map((step) => step.span);
    this.pathBefore = this.countBefore((span) => this.timeOnPath.has(span));
  }

  /** [span]: how many spans before it there are of which is() holds. */
  countBefore(is) {
    const count = new Uint32Array(this.numSpans + 1);
    for (let i = 0; i < this.numSpans; i++) count[i + 1] = count[i] + (is(i) ? 1 : 0);
    return count;
  }

  rankOf(span) { return this.rows[this.rowOf[span]].rank; }
  /** The same launch, with rows that a second timeline may place. */
  withOwnRows() {
    return Object.assign(Object.create(Launch.prototype), this, {rows: this.rows.map((row) => ({...row}))});
  }
  /** The spans of rank 0 if it represents all ranks (`folded`: they do the same), else all spans. */
  representativeSpans(folded = this.about.sameRanks) {
    return Uint32Array.from({length: this.numSpans}, (_, i) => i).filter((i) => !folded || this.rankOf(i) === 0);
  }
  /** Bytes that a span writes: those of its operand for each place that it writes to; one place, of a proxy. */
  bytesWritten(span) {
    const op = this.op[span], writes = (this.firstOperand[op + 1] - this.firstOperand[op]) / 4 - this.numReads[op];
    return this.bytes[span] * (this.pair[span] ? 1 : Math.max(1, writes));
  }
  isProxy(span) { return this.rows[this.rowOf[span]].proxy; }
  wordOf(span) { return (this.isProxy(span) ? "proxy: " : "") + this.words[this.opWord[this.op[span]]]; }
  whereOf(span) {
    const row = this.rows[this.rowOf[span]];
    return `rank ${row.rank}, ${row.proxy ? "proxy of port" : "block"} ${row.block}`;
  }
  /** Places of an operation: {file, line, column}, or {file, element} in a plan. */
  placesOf(op) {
    const places = [];
    for (let at = this.firstPlace[op]; at < this.firstPlace[op + 1]; at += 3) {
      const [file, line, column] = this.places.subarray(at, at + 3);
      places.push(line ? {file, line, column} : {file, element: this.elements[column]});
    }
    return places;
  }
  nameOf(place) {
    const file = this.files[place.file].name;
    return place.element ? `${file}: ${place.element}` : `${file.replace(/^.*\//, "")}:${place.line}`;
  }
  /** What a span moves: lists of {rank, buffer, index, size}; of a proxy, its own transfer alone. */
  accessesOf(span) {
    const op = this.op[span], reads = [], writes = [];
    for (let at = this.firstOperand[op], i = 0; at < this.firstOperand[op + 1]; at += 4, i++) {
      const [rank, buffer, index, size] = this.operands.subarray(at, at + 4);
      (i < this.numReads[op] ? reads : writes).push({rank, buffer, index, size});
    }
    const pair = this.pair[span] - 1;
    if (pair < 0 || pair >= writes.length) return {reads, writes, pairwise: this.pairwise[op] === 1};
    return {reads: [reads[Math.min(pair, reads.length - 1)]], writes: [writes[pair]], pairwise: true};
  }
}
