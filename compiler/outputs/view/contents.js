// What chunks hold at a moment: of which ranks' inputs they are made. Derived from what operations read and write, each
// taken to be done at its end.

class Contents {
  constructor(launch) {
    this.launch = launch;
    this.words = Math.ceil(launch.ranks.length / 32);  // of a set of ranks
    this.moves = Uint32Array.from({length: launch.numSpans}, (_, i) => i)
                     .filter((span) => launch.bytes[span] > 0 && launch.accessesOf(span).writes.length > 0);
    this.byEnd = this.moves.slice().sort((a, b) => launch.end[a] - launch.end[b] || a - b);
    this.moves.sort((a, b) => launch.moving[a] - launch.moving[b] || a - b);
    this.layOut();
    this.reset();
  }

  /** Where each buffer of each rank begins among all cells; a buffer has a cell for each chunk. */
  layOut() {
    const {launch} = this;
    this.sizes = launch.ranks.map(() => launch.buffers.map(() => 0));
    const used = launch.buffers.map(() => false);
    const touch = ({rank, buffer, index, size}) => {
      used[buffer] = true;
      this.sizes[rank][buffer] = Math.max(this.sizes[rank][buffer], index + size);
    };
    for (const [rank, {input: [buffer, index, size]}] of launch.ranks.entries()) touch({rank, buffer, index, size});
    for (const span of this.moves) {
      const {reads, writes} = launch.accessesOf(span);
      reads.forEach(touch);
      writes.forEach(touch);
    }
    this.first = launch.ranks.map(() => []);
    this.numCells = 0;
    for (const [rank, {chunks}] of launch.ranks.entries())
      for (const buffer of launch.buffers.keys()) {
        this.first[rank].push(this.numCells);
        if (used[buffer] && buffer < chunks.length && !(launch.about.inPlace && buffer < 2))
          this.sizes[rank][buffer] = Math.max(this.sizes[rank][buffer], chunks[buffer]);
        this.numCells += this.sizes[rank][buffer];
      }
  }

  reset() {
    this.done = 0;
    this.holds = new Uint32Array(this.numCells * this.words);
    this.writer = new Int32Array(this.numCells).fill(-1);
    for (const [rank, {input: [buffer, index, size]}] of this.launch.ranks.entries())
      for (let i = 0; i < size; i++)
        this.holds[(this.first[rank][buffer] + index + i) * this.words + (rank >> 5)] |= 1 << (rank & 31);
  }

  /** Brings all cells to a moment. */
  goTo(time) {
    const {end} = this.launch;
    const until = firstWhere(0, this.byEnd.length, (i) => end[this.byEnd[i]] > time);
    if (until < this.done) this.reset();
    for (; this.done < until; this.done++) this.apply(this.byEnd[this.done]);
  }

  apply(span) {
    const {reads, writes, pairwise} = this.launch.accessesOf(span), {words, holds, first} = this;
    const sets = writes.map(({size}, i) => {
      const made = new Uint32Array(size * words);
      for (const read of pairwise ? [reads[i]] : reads)
        for (let k = 0, from = (first[read.rank][read.buffer] + read.index) * words;
             k < Math.min(size, read.size) * words; k++)
          made[k] |= holds[from + k];
      return made;
    });
    writes.forEach(({rank, buffer, index, size}, i) => {
      const cell = first[rank][buffer] + index;
      holds.set(sets[i], cell * words);
      this.writer.fill(span, cell, cell + size);
    });
  }

  /** Ranks whose data a cell holds. */
  ranksIn(cell) {
    const ranks = [];
    for (let rank = 0; rank < this.launch.ranks.length; rank++)
      if (this.holds[cell * this.words + (rank >> 5)] >>> (rank & 31) & 1) ranks.push(rank);
    return ranks;
  }
}

/** Some moves of a launch: those of one rank's operations, or all. */
class Moves {
  /** `rank`: a number, or null for all ranks. */
  constructor({launch, moves}, rank) {
    this.launch = launch;
    this.moves = rank === null ? moves : moves.filter((span) => launch.rankOf(span) === rank);
    this.longest = this.moves.reduce((longest, span) => Math.max(longest, launch.end[span] - launch.moving[span]), 0);
    this.ranks = this.findRanks(rank);
    this.steps = this.findSteps();
  }

  /** All ranks, or the one and those that its moves read or write. */
  findRanks(rank) {
    if (rank === null) return this.launch.ranks.map((_, i) => i);
    const ranks = new Set([rank]);
    for (const span of this.moves) {
      const {reads, writes} = this.launch.accessesOf(span);
      for (const access of [...reads, ...writes]) ranks.add(access.rank);
    }
    return [...ranks].sort((a, b) => a - b);
  }

  /** Spans whose data is under way at a moment. */
  underWay(time) {
    const {moving, end} = this.launch;
    const low = firstWhere(0, this.moves.length, (i) => moving[this.moves[i]] >= time - this.longest);
    const high = firstWhere(low, this.moves.length, (i) => moving[this.moves[i]] > time);
    return this.moves.subarray(low, high).filter((span) => end[span] > time);
  }

  /** Moments to step through: at each as many are under way as can be, and every move is under way at one of them. */
  findSteps() {
    const {moving, end} = this.launch, steps = [];
    let at = -1, firstEnd = Infinity;
    for (const span of this.moves) {
      if (moving[span] >= firstEnd) {
        steps.push(at);
        firstEnd = Infinity;
      }
      at = moving[span];
      firstEnd = Math.min(firstEnd, end[span]);
    }
    if (at >= 0) steps.push(at);
    return steps;
  }
}
