// Nodes, ranks, and ranks that do the same, as the names at the left of the timeline.

/** Above so many ranks that differ, only rank 0 and those of the critical path are open at first. */
const mostOpenRanks = 16;

/** "rank 3", "ranks 1–7". */
function ranksText(first, last) { return last - first === 1 ? `rank ${first}` : `ranks ${first}–${last - 1}`; }

class Groups {
  constructor(launch) {
    this.numRanks = launch.ranks.length;
    this.perNode = Math.min(launch.about.ranksPerNode, this.numRanks);
    this.hasNodes = this.perNode < this.numRanks;
    this.areSame = launch.about.sameRanks && this.numRanks > 1;  // rank 0 represents all
    this.open = new Set();
    const onPath = new Set(launch.pathSpans.map((span) => launch.rankOf(span)));
    for (let rank = 0; rank < this.numRanks; rank++)
      if (this.areSame ? rank === 0 : this.numRanks <= mostOpenRanks || onPath.has(rank) || rank === 0)
        this.open.add(`rank ${rank}`);
    for (let node = 0; node * this.perNode < this.numRanks; node++)
      if (!this.areSame || node === 0) this.open.add(`node ${node}`);
  }

  isOpen(head) { return this.open.has(head.key); }
  toggle(head) {
    if (!this.open.delete(head.key)) this.open.add(head.key);
  }

  /** The names in order, of what is open: ranks [first, last) each, `isRank` where rows follow. */
  heads() {
    const heads = [];
    for (let first = 0; first < this.numRanks; first += this.perNode) {
      const last = Math.min(first + this.perNode, this.numRanks), node = first / this.perNode,
            same = this.areSame && first > 0;
      const head = {key: `node ${node}`, text: `node ${node}${same ? ": as rank 0" : ""}`, depth: 0, first, last};
      if (this.hasNodes) heads.push(head);
      if (this.hasNodes && !this.isOpen(head)) continue;
      const depth = this.hasNodes ? 1 : 0;
      const add = (rank, more) => heads.push(
          {key: `rank ${rank}`, text: `rank ${rank}`, depth: depth + more, first: rank, last: rank + 1, isRank: true});
      let rank = first;
      if (this.areSame && first === 0 && last > 1) {
        add(rank++, 0);
        const fold = {key: "fold", text: `${ranksText(1, last)}: as rank 0`, depth, first: 1, last};
        heads.push(fold);
        if (!this.isOpen(fold)) continue;
      }
      for (; rank < last; rank++) add(rank, this.areSame && first === 0 ? 1 : 0);
    }
    return heads;
  }

  /** True if the rank has a name of its own that is not hidden. */
  lists(rank) {
    if (this.hasNodes && !this.open.has(`node ${Math.floor(rank / this.perNode)}`)) return false;
    return !this.areSame || rank === 0 || rank >= this.perNode || this.open.has("fold");
  }

  /** Opens what hides the rows of a rank. */
  reveal(rank) {
    this.open.add(`node ${Math.floor(rank / this.perNode)}`);
    if (this.areSame && rank > 0 && rank < this.perNode) this.open.add("fold");
    this.open.add(`rank ${rank}`);
  }
}
