// The chunks of ranks at a moment: a box for each rank, a row for each buffer, arrows for what is under way. At first
// it shows the moves of one rank, and the boxes of ranks that take part in them.

/** Above so many at once transfers are drawn together. */
const mostArrows = 64;
/** Pixels above the boxes of a node, for its name. */
const nodeGap = 15;

/** Pixels of a buffer whose cells are on so many lines: enough for its name. */
function bufferHeight(lines, cell) { return lines && Math.max(lines * cell + 3, 14); }

/** One that fits is better than one that does not; of those that fit the one of larger cells. */
function isBetterGrid(one, other, height) {
  const fits = one.height <= height;
  if (fits !== other.height <= height) return fits;
  return fits ? one.cell > other.cell : one.height < other.height;
}

class ChunksView {
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    this.playing = false;
    this.chooser = document.getElementById("chunks-rank");
    this.chooser.onchange = () => this.choose(this.chooser.value === "all" ? null : Number(this.chooser.value));
    canvas.addEventListener("pointermove", (event) => this.tell(event));
    canvas.addEventListener("pointerleave", () => hideTip());
    canvas.addEventListener("click", (event) => {
      const cell = this.cellAt(event.offsetX, event.offsetY);
      if (cell && this.contents.writer[cell.number] >= 0) app.select(this.contents.writer[cell.number], {follow: true});
    });
  }

  begin() {
    this.play(false);
    this.contents = new Contents(this.app.launch);
    this.chooser.replaceChildren(
        ...this.app.launch.ranks.map((_, rank) => new Option(`rank ${rank}`, rank)), new Option("all ranks", "all"));
    this.choose(0);
  }
  get steps() { return this.moves.steps; }

  /** Shows the moves of a rank; null: of all ranks. */
  choose(rank) {
    this.rank = rank;
    this.chooser.value = rank === null ? "all" : rank;
    this.moves = new Moves(this.contents, rank);
    this.app.redrawAll();
  }
  /** Shows the moves of the rank whose operation is selected, unless those of all ranks are shown. */
  follow(span) {
    const rank = this.app.launch.rankOf(span);
    if (this.rank !== null && this.rank !== rank && this.app.launch.bytes[span]) this.choose(rank);
  }

  /** Boxes and cells for a width: cells as large as all fit in the pane, at least 4 pixels. Each node begins a line. */
  layOut(width, height) {
    const {sizes} = this.contents, {ranks} = this.moves, {perNode, hasNodes} = this.app.timeline.groups;
    const rows = this.app.launch.buffers.map((_, i) => ranks.reduce((most, rank) => Math.max(most, sizes[rank][i]), 0));
    const label = 50, pad = 7, title = 17, most = Math.min(ranks.length, 16);
    const inNodes = new Map();
    for (const rank of ranks)
      inNodes.set(Math.floor(rank / perNode), (inNodes.get(Math.floor(rank / perNode)) || 0) + 1);
    const fit = (columns, cell) => {
      const boxWidth = Math.floor((width - pad) / columns) - pad, room = boxWidth - label - 6;
      const perLine = Math.max(1, Math.floor(room / cell));
      const lines = rows.map((size) => Math.ceil(size / perLine)),
            boxHeight = title + 5 + lines.reduce((sum, one) => sum + bufferHeight(one, cell), 0);
      const boxLines = [...inNodes.values()].reduce((sum, count) => sum + Math.ceil(count / columns), 0);
      return {
        columns,
        cell,
        boxWidth,
        boxHeight,
        perLine,
        lines,
        pad,
        label,
        title,
        height: boxLines * (boxHeight + pad) + pad + (hasNodes ? inNodes.size * nodeGap : 0),
        isRoom: room >= 3 * cell
      };
    };
    let best = null;
    for (let columns = 1; columns <= most; columns++)
      for (let cell = 26; cell >= 4; cell--) {
        const one = fit(columns, cell);
        if (!one.isRoom) continue;
        if (!best || isBetterGrid(one, best, height)) best = one;
        if (one.height <= height) break;
      }
    this.grid = best || fit(1, 4);
    this.placeBoxes(ranks, perNode, hasNodes);
    return this.grid;
  }

  /** Where the box of each shown rank is, and the name of each node. */
  placeBoxes(ranks, perNode, hasNodes) {
    const {columns, boxWidth, boxHeight, pad} = this.grid;
    this.boxes = new Map();
    this.nodes = [];
    let y = pad - boxHeight - pad, column = columns, node = -1;
    for (const rank of ranks) {
      if (Math.floor(rank / perNode) !== node || column === columns) {
        y += boxHeight + pad;
        column = 0;
      }
      if (Math.floor(rank / perNode) !== node) {
        node = Math.floor(rank / perNode);
        if (hasNodes) this.nodes.push({node, y});
        if (hasNodes) y += nodeGap;
      }
      this.boxes.set(rank, {x: pad + column++ * (boxWidth + pad), y});
    }
  }
  boxOf(rank) { return this.boxes.get(rank); }
  bufferTop(rank, buffer) {
    const {title, lines, cell} = this.grid;
    return this.boxOf(rank).y + title + lines.slice(0, buffer).reduce((sum, one) => sum + bufferHeight(one, cell), 0);
  }
  cellBox(rank, buffer, index) {
    const {cell, perLine, label} = this.grid;
    return {
      x: this.boxOf(rank).x + label + (index % perLine) * cell,
      y: this.bufferTop(rank, buffer) + Math.floor(index / perLine) * cell
    };
  }
  cellAt(x, y) {
    if (!this.grid) return null;
    const {cell, perLine, label} = this.grid, {sizes, first} = this.contents;
    for (const rank of this.moves.ranks)
      for (let buffer = 0; buffer < sizes[rank].length; buffer++) {
        const column = Math.floor((x - this.boxOf(rank).x - label) / cell),
              line = Math.floor((y - this.bufferTop(rank, buffer)) / cell);
        const index = line * perLine + column;
        if (column >= 0 && column < perLine && line >= 0 && line < this.grid.lines[buffer] &&
            index < sizes[rank][buffer])
          return {rank, buffer, index, number: first[rank][buffer] + index};
      }
    return null;
  }

  tell(event) {
    const cell = this.cellAt(event.offsetX, event.offsetY);
    if (!cell) return hideTip();
    const {launch} = this.app, ranks = this.contents.ranksIn(cell.number), writer = this.contents.writer[cell.number];
    const held = ranks.length === 0 ?
        "holds nothing yet" :
        ranks.length === 1 ?
        `data of rank ${ranks[0]}` :
        `reduced from ${ranks.length === launch.ranks.length ? "all ranks" : `ranks ${ranks.join(", ")}`}`;
    const place = writer >= 0 && launch.placesOf(launch.op[writer])[0];
    const by = writer < 0 ? "" :
                            `\nby ${launch.wordOf(writer)}, ${launch.whereOf(writer)}, at ${
                                shownTime(launch.end[writer])}${place ? `\n${launch.nameOf(place)}` : ""}`;
    showTip(event, chunksText(launch, {...cell, size: 1}), held + by);
  }

  draw() {
    const parent = this.canvas.parentElement, grid = this.layOut(parent.clientWidth - 2, parent.clientHeight - 2);
    const {context, width, height} = fitCanvas(this.canvas, grid.height), {launch, moment} = this.app;
    context.fillStyle = theme.pane;
    context.fillRect(0, 0, width, height);
    this.contents.goTo(moment);
    const underWay = this.moves.underWay(moment), lit = new Map();
    for (const span of underWay) {
      const {reads, writes} = launch.accessesOf(span);
      for (const [list, kind] of [[reads, 1], [writes, 2]])
        for (const {rank, buffer, index, size} of list)
          for (let i = 0, cell = this.contents.first[rank][buffer] + index; i < size; i++) lit.set(cell + i, kind);
    }
    for (const rank of this.moves.ranks) this.drawRank(context, rank, lit);
    context.font = fonts.bold;
    context.fillStyle = theme.faint;
    for (const {node, y} of this.nodes) context.fillText(`node ${node}`, this.grid.pad, y + nodeGap / 2);
    this.drawMoves(context, underWay);
    for (const rank of this.moves.ranks) this.drawNames(context, rank);
    const step = firstWhere(0, this.steps.length, (i) => this.steps[i] > moment);
    document.getElementById("step").textContent =
        `step ${step} of ${this.steps.length} · ${shownTime(moment)} · ${plural(underWay.length, "move")}`;
  }

  drawRank(context, rank, lit) {
    const {boxWidth, boxHeight, cell, lines} = this.grid, {x, y} = this.boxOf(rank), {sizes, first} = this.contents;
    context.fillStyle = theme.row;
    context.fillRect(x, y, boxWidth, boxHeight);
    for (let buffer = 0; buffer < sizes[rank].length; buffer++) {
      if (!lines[buffer] || !sizes[rank][buffer]) continue;
      for (let index = 0; index < sizes[rank][buffer]; index++) {
        const box = this.cellBox(rank, buffer, index), number = first[rank][buffer] + index;
        this.drawCell(context, number, box, cell);
        if (!lit.has(number)) continue;
        context.strokeStyle = lit.get(number) === 2 ? okabeIto.vermilion : theme.text;
        context.lineWidth = cell < 9 ? 1 : 2;
        context.strokeRect(box.x + 0.5, box.y + 0.5, cell - 2, cell - 2);
      }
    }
  }

  /** The rank and its buffers by name, over the arrows. */
  drawNames(context, rank) {
    const {cell, lines} = this.grid, {x, y} = this.boxOf(rank), {sizes} = this.contents;
    const write = (text, left, top, color) => {
      context.strokeStyle = theme.row;
      context.lineWidth = 4;
      context.strokeText(text, left, top);
      context.fillStyle = color;
      context.fillText(text, left, top);
    };
    context.lineJoin = "round";
    context.fillStyle = rankColors[rank % 8];
    context.fillRect(x + 6, y + 4, 9, 9);
    context.font = fonts.bold;
    write(`rank ${rank}`, x + 20, y + 9, theme.text);
    context.font = fonts.small;
    for (let buffer = 0; buffer < sizes[rank].length; buffer++) {
      if (!lines[buffer] || !sizes[rank][buffer]) continue;
      const name = this.app.launch.about.inPlace && buffer < 2 ? "in place" : this.app.launch.buffers[buffer];
      write(name, x + 5, this.bufferTop(rank, buffer) + Math.max(cell, 11) / 2, theme.faint);
    }
  }

  /** A stripe for each rank whose data is in the cell; of more than eight ranks how many of them; dark if it is all. */
  drawCell(context, number, {x, y}, cell) {
    const size = Math.max(2, cell - 1), ranks = this.contents.ranksIn(number), all = this.app.launch.ranks.length;
    context.fillStyle = theme.empty;
    context.fillRect(x, y, size, size);
    if (ranks.length === 1) {
      context.fillStyle = rankColors[ranks[0] % 8];
      context.fillRect(x, y, size, size);
      this.label(context, String(ranks[0]), x, y, size, rankTexts[ranks[0] % 8]);
    } else if (ranks.length === all) {
      context.fillStyle = theme.full;
      context.fillRect(x, y, size, size);
      this.label(context, "all", x, y, size, theme.isDark ? "#000" : "#fff");
    } else if (ranks.length && all <= 8) {
      for (const rank of ranks) {
        const left = Math.round(rank * size / all), right = Math.round((rank + 1) * size / all);
        context.fillStyle = rankColors[rank];
        context.fillRect(x + left, y, right - left, size);
      }
    } else if (ranks.length) {
      context.fillStyle = okabeIto.sky;
      const filled = Math.max(1, Math.round(size * ranks.length / all));
      context.fillRect(x, y + size - filled, size, filled);
      this.label(context, String(ranks.length), x, y, size, "#000");
    }
  }

  label(context, text, x, y, size, color) {
    context.font = fonts.small;
    if (size < 12 || textWidth(context, text) > size - 2) return;
    context.fillStyle = color;
    context.fillText(text, x + (size - textWidth(context, text)) / 2, y + size / 2 + 0.5);
  }

  /** Transfers of a span: from where, to where, how far along. */
  movesOf(span) {
    const {launch, moment, selected} = this.app, {reads, writes, pairwise} = launch.accessesOf(span), moves = [];
    const along = (moment - launch.moving[span]) / (launch.end[span] - launch.moving[span]);
    writes.forEach((write, i) => {  // a result that is kept goes on from there
      for (const read of pairwise ? [reads[i]] : i > 0 ? [writes[0]] : reads)
        if (read && !(read.rank === write.rank && read.buffer === write.buffer && read.index === write.index))
          moves.push({read, write, along, isSelected: span === selected});
    });
    return moves;
  }

  /** An arrow for each transfer; where these are too many to tell apart, one from rank to rank. */
  drawMoves(context, spans) {
    const {cell, boxWidth, boxHeight} = this.grid, moves = [...spans].flatMap((span) => this.movesOf(span));
    const center = ({rank, buffer, index, size}) => {
      const a = this.cellBox(rank, buffer, index), b = this.cellBox(rank, buffer, index + size - 1);
      return {x: (a.x + b.x + cell - 1) / 2, y: (a.y + b.y + cell - 1) / 2};
    };
    const single = moves.length <= mostArrows ? moves : moves.filter((move) => move.isSelected);
    if (single !== moves) {
      const middle = (rank) => ({x: this.boxOf(rank).x + boxWidth / 2, y: this.boxOf(rank).y + boxHeight / 2}),
            pairs = new Map();
      for (const {read, write, along} of moves)
        if (read.rank !== write.rank) pairs.set(`${read.rank} ${write.rank}`, {a: read.rank, b: write.rank, along});
      const alpha = Math.max(0.12, Math.min(0.75, 30 / pairs.size));
      for (const {a, b, along} of pairs.values())
        this.drawMove(context, middle(a), middle(b), along, theme.text, alpha);
    }
    for (const {read, write, along, isSelected} of single)
      this.drawMove(context, center(read), center(write), along, isSelected ? okabeIto.vermilion : theme.text, 0.75);
  }

  drawMove(context, a, b, along, color, alpha) {
    const bend = 0.16, middle = {x: (a.x + b.x) / 2 - (b.y - a.y) * bend, y: (a.y + b.y) / 2 + (b.x - a.x) * bend};
    const at = (t) => ({
      x: (1 - t) ** 2 * a.x + 2 * t * (1 - t) * middle.x + t * t * b.x,
      y: (1 - t) ** 2 * a.y + 2 * t * (1 - t) * middle.y + t * t * b.y
    });
    context.strokeStyle = context.fillStyle = color;
    context.globalAlpha = alpha;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(a.x, a.y);
    context.quadraticCurveTo(middle.x, middle.y, b.x, b.y);
    context.stroke();
    context.globalAlpha = 1;
    const angle = Math.atan2(b.y - middle.y, b.x - middle.x);
    context.beginPath();
    context.moveTo(b.x, b.y);
    context.lineTo(b.x - 8 * Math.cos(angle - 0.4), b.y - 8 * Math.sin(angle - 0.4));
    context.lineTo(b.x - 8 * Math.cos(angle + 0.4), b.y - 8 * Math.sin(angle + 0.4));
    context.fill();
    const dot = at(Math.max(0, Math.min(1, along)));
    context.beginPath();
    context.arc(dot.x, dot.y, 3.5, 0, 2 * Math.PI);
    context.fillStyle = okabeIto.vermilion;
    context.fill();
    context.strokeStyle = theme.pane;
    context.lineWidth = 1;
    context.stroke();
  }

  /** To the next step, or the one before. */
  step(by) {
    const {steps} = this, {moment} = this.app;
    const at = by > 0 ? firstWhere(0, steps.length, (i) => steps[i] > moment) :
                        firstWhere(0, steps.length, (i) => steps[i] >= moment) - 1;
    this.app.setMoment(at < 0 ? 0 : at < steps.length ? steps[at] : this.app.launch.about.total);
  }

  /** Plays on: from one step to the next in as long as it takes to see it. */
  play(on = !this.playing) {
    const wasPlaying = this.playing;
    this.playing = on;
    document.getElementById("play").textContent = on ? "Pause" : "Play";
    if (!on || wasPlaying) return;
    const {steps} = this, total = this.app.launch.about.total, stops = [0, ...steps, total];
    if (this.app.moment >= total) this.app.setMoment(0);
    let last = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      const next = firstWhere(0, stops.length, (i) => stops[i] > this.app.moment);
      if (next === stops.length) return this.play(false);
      const length = next > 0 ? stops[next] - stops[next - 1] : stops[next];
      this.app.setMoment(Math.min(stops[next], this.app.moment + Math.max(length, 1) * (now - last) / 900));
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }
}
