// The timeline: a row for each block and proxy, operations as bars. Only what is in sight is looked at; operations
// narrower than a pixel share one.

const gutter = 150, axisHeight = 24, headHeight = 20, firstHeight = 17, furtherHeight = 14;

class TimelineView {
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    this.frame = null;              // {x0, y0, x1, y1}: what is being framed
    this.run = {from: -1, to: -1};  // pixels of narrow spans that are yet to be drawn
    listenToPointer(this);
  }
  get launch() { return this.app.launch; }

  begin() {
    this.groups = new Groups(this.launch);
    this.rowsOfRank = this.launch.ranks.map(() => []);
    let block = "";
    for (const row of this.launch.rows) {
      const own = `${row.rank} ${row.proxy} ${row.block}`;
      row.isFirst = own !== block;
      block = own;
      this.rowsOfRank[row.rank].push(row);
    }
    this.scroll = 0;
    this.measure();
    this.layOut();
  }

  /** Where each name and row is: `top` from the first one, −1 if it is hidden. */
  layOut() {
    this.heads = this.groups.heads();
    this.headOf = new Array(this.launch.ranks.length);
    this.shown = [];
    for (const row of this.launch.rows) row.top = -1;
    let top = 0;
    for (const head of this.heads) {
      head.top = top;
      top += headHeight;
      this.headOf.fill(head, head.first, head.last);
      if (!head.isRank || !this.groups.isOpen(head)) continue;
      for (const row of this.rowsOfRank[head.first]) {
        row.height = row.isFirst ? firstHeight : furtherHeight;
        row.top = top;
        top += row.height;
        this.shown.push(row);
      }
    }
    this.height = top + 8;
  }

  toggle(head) {
    this.groups.toggle(head);
    this.change();
  }
  change() {
    this.layOut();
    if (this.app.links) this.app.links.fold();
    this.scrollTo(this.scroll);
  }

  /** Pixels of the axis, and of rows that can be seen at once. Read from the page once a frame, as that costs. */
  measure() {
    this.width = Math.max(1, this.canvas.parentElement.clientWidth - gutter);
    this.visible = Math.max(1, this.canvas.parentElement.clientHeight - axisHeight);
  }
  xOf(time) { return gutter + (time - this.app.t0) * this.width / (this.app.t1 - this.app.t0); }
  timeAt(x) { return this.app.t0 + (x - gutter) * (this.app.t1 - this.app.t0) / this.width; }
  yOf(span) {
    const row = this.launch.rows[this.launch.rowOf[span]];
    if (row.top >= 0) return axisHeight + row.top - this.scroll + row.height / 2;
    return axisHeight + this.headOf[row.rank].top - this.scroll + headHeight / 2;
  }
  scrollTo(y) {
    this.scroll = Math.max(0, Math.min(y, this.height - this.visible));
    this.app.redraw();
  }
  /** Scrolls so that a span's row can be seen, its rank open. */
  reveal(span) {
    const row = this.launch.rows[this.launch.rowOf[span]];
    if (row.top < 0) {
      this.groups.reveal(row.rank);
      this.change();
    }
    if (row.top < this.scroll + 4 || row.top + row.height > this.scroll + this.visible - 4)
      this.scrollTo(row.top - this.visible / 2);
  }

  /** The span below a point of the canvas, or -1; within two pixels, as some are narrow. */
  spanAt(x, y) {
    if (x < gutter || y < axisHeight) return -1;
    const row = this.rowAt(y);
    if (!row) return -1;
    const {start, end} = this.launch, time = this.timeAt(x), slack = 2 * (this.app.t1 - this.app.t0) / this.width;
    const span = firstWhere(row.first, row.last, (i) => end[i] > time);
    if (span < row.last && start[span] <= time) return span;
    const near = [span - 1, span].filter(
        (i) => i >= row.first && i < row.last && start[i] - slack <= time && time <= end[i] + slack);
    return near.length ? near[0] : -1;
  }
  rowAt(y) {
    const at = y - axisHeight + this.scroll;
    const row = this.shown[firstWhere(0, this.shown.length, (i) => this.shown[i].top + this.shown[i].height > at)];
    return y >= axisHeight && row && row.top <= at ? row : undefined;
  }
  /** True if the span is of the block or proxy that the row is of. */
  isOfBlock(span, {rank, proxy, block}) {
    const row = this.launch.rows[this.launch.rowOf[span]];
    return row.rank === rank && row.proxy === proxy && row.block === block;
  }

  setFrame(from, to) {
    this.frame = {
      x0: Math.max(gutter, Math.min(from.x, to.x)),
      x1: Math.max(from.x, to.x),
      y0: Math.max(axisHeight, Math.min(from.y, to.y)),
      y1: Math.max(from.y, to.y)
    };
    this.app.redraw();
  }
  /** Finds the operations that the frame touches. */
  takeFrame() {
    const {x0, x1, y0, y1} = this.frame, from = this.timeAt(x0), to = this.timeAt(x1),
                       {start, end, rowOf, rows} = this.launch;
    const top = y0 - axisHeight + this.scroll, bottom = y1 - axisHeight + this.scroll;
    const touched = rows.map((row) => row.top >= 0 && row.top < bottom && row.top + row.height > top);
    this.frame = null;
    this.app.find(
        new Found(this.launch, (span) => touched[rowOf[span]] && start[span] < to && end[span] > from), false);
  }

  headAt(y) {
    const at = y - axisHeight + this.scroll;
    return y < axisHeight ? undefined : this.heads.find((head) => head.top <= at && at < head.top + headHeight);
  }

  draw() {
    const {context, width, height} = fitCanvas(this.canvas);
    this.measure();
    this.context = context;
    this.scroll = Math.max(0, Math.min(this.scroll, this.height - this.visible));
    context.fillStyle = theme.pane;
    context.fillRect(0, 0, width, height);
    context.save();
    context.beginPath();
    context.rect(gutter, axisHeight, width - gutter, height - axisHeight);
    context.clip();
    this.drawGrid(height);
    const bottom = this.scroll + height - axisHeight;
    const first = firstWhere(0, this.shown.length, (i) => this.shown[i].top + this.shown[i].height > this.scroll);
    for (let i = first; i < this.shown.length && this.shown[i].top < bottom; i++) this.drawRow(this.shown[i]);
    this.drawPath();
    drawSignals(this);
    this.drawMoment(height);
    this.drawFrame();
    context.restore();
    this.drawGutter(height);
    this.drawAxis(width);
  }

  drawGrid(height) {
    const {context} = this;
    context.fillStyle = theme.line;
    for (const tick of ticksOf(this.app.t0, this.app.t1, this.width).ticks)
      context.fillRect(Math.round(this.xOf(tick)), axisHeight, 1, height);
    context.fillStyle = theme.row;
    for (const head of this.heads)
      context.fillRect(gutter, axisHeight + head.top - this.scroll, this.width, headHeight);
  }

  drawRow(row) {
    const {start, end} = this.launch, {t0, t1} = this.app, perPixel = (t1 - t0) / this.width;
    const y = axisHeight + row.top - this.scroll + 1, height = row.height - 2;
    let span = firstWhere(row.first, row.last, (i) => end[i] > t0);
    while (span < row.last && start[span] < t1) {
      const x0 = this.xOf(start[span]), x1 = this.xOf(end[span]);
      if (x1 - x0 >= 1.5) {
        this.drawRun();
        this.drawSpan(span, x0, x1, y, height);
        span++;
        continue;
      }
      const pixel = Math.floor(x0), until = this.timeAt(pixel + 1);
      let far = span + 1;
      for (let reach = 1; far < row.last && end[far] <= until; reach *= 2) far = Math.min(row.last, span + 2 * reach);
      const next = firstWhere(span + 1, far, (i) => end[i] > until);
      this.addNarrow(span, next, pixel, y, height);
      span = next;
    }
    this.drawRun();
  }

  /** Spans [span, next) share the pixel at x. Neighbouring pixels with the same look are drawn at once. */
  addNarrow(span, next, x, y, height) {
    const {app, launch, run} = this, {color} = this.look((span + next) >> 1);
    const onPath = launch.pathBefore[next] > launch.pathBefore[span], dimmed = app.isDimmed(span, next);
    if (run.to === x && run.color === color && run.onPath === onPath && run.dimmed === dimmed) {
      run.to = x + 1;
      return;
    }
    this.drawRun();
    Object.assign(run, {from: x, to: x + 1, y, height, color, onPath, dimmed});
  }

  drawRun() {
    const {context, run} = this, {from, to, y, height} = run;
    run.to = run.from = -1;
    if (to <= from) return;
    context.globalAlpha = run.dimmed ? 0.22 : 1;
    context.fillStyle = run.color;
    context.fillRect(from, y, to - from, height);
    context.globalAlpha = 1;
    if (!run.onPath) return;
    context.fillStyle = okabeIto.vermilion;
    context.fillRect(from, y + height - 3, to - from, 3);
  }

  drawSpan(span, x0, x1, y, height) {
    const {context, app, launch} = this, look = this.look(span);
    const left = Math.max(x0, gutter - 4), right = Math.min(x1, gutter + this.width + 4),
          width = Math.max(1, right - left - (x1 - x0 > 4 ? 1 : 0));
    context.globalAlpha = app.isDimmed(span, span + 1) ? 0.22 : 1;
    context.fillStyle = look.color;
    context.fillRect(left, y, width, height);
    const moving = Math.min(right, this.xOf(launch.moving[span]));
    if (launch.bytes[span] && moving - left > 2) {  // before data flows it is latency: paler
      context.fillStyle = paleness;
      context.fillRect(left, y, moving - left, height);
    }
    const pale = launch.bytes[span] ? Math.max(0, moving - left) : 0;
    if (context.globalAlpha === 1 && !this.drawLabel(span, left + pale, width - pale, y + height / 2, look.text))
      this.drawLabel(span, left, pale, y + height / 2, "#000");
    context.globalAlpha = 1;
    if (launch.timeOnPath.has(span)) {
      context.fillStyle = okabeIto.vermilion;
      context.fillRect(left, y + height - 3, width, 3);
    }
    if (span === app.selected || span === app.hovered || app.followed.includes(span)) {
      context.strokeStyle = theme.text;
      context.lineWidth = span === app.hovered && span !== app.selected ? 1 : 2;
      context.strokeRect(left + 0.5, y + 0.5, width - 1, height - 1);
    }
  }

  /** Writes on the part of a bar that has one colour. Answers whether there was room. */
  drawLabel(span, x, width, y, color) {
    const {context, launch} = this, room = width - 8;
    if (room < 14) return false;
    context.font = fonts.small;
    const word = launch.wordOf(span), more = launch.bytes[span] ? `${word}  ${shownBytes(launch.bytes[span])}` : word;
    const text = [more, word, `${word.split(" ")[0]} …`].find((one) => textWidth(context, one) <= room);
    if (!text) return false;
    context.fillStyle = color;
    context.fillText(text, x + 4, y);
    return true;
  }

  look(span) {
    return classes[this.launch.isProxy(span) ? classes.length - 1 : this.launch.opClass[this.launch.op[span]]];
  }

  /** From row to row where the critical path goes. */
  drawPath() {
    const {context, launch, app} = this, path = launch.path;
    const first = firstWhere(0, path.length, (i) => path[i].to >= app.t0);
    context.strokeStyle = okabeIto.vermilion;
    context.lineWidth = 1.5;
    context.setLineDash([4, 3]);
    context.beginPath();
    for (let i = Math.max(1, first), drawn = 0; i < path.length && path[i].from <= app.t1 && drawn < 4000;
         i++, drawn++) {
      const [a, b] = [path[i - 1].span, path[i].span];
      if (a < 0 || b < 0 || launch.rowOf[a] === launch.rowOf[b]) continue;
      const x = this.xOf(path[i].from);
      context.moveTo(x, this.yOf(a));
      context.lineTo(x, this.yOf(b));
    }
    context.stroke();
    context.setLineDash([]);
  }

  drawFrame() {
    if (!this.frame) return;
    const {context, frame: {x0, x1, y0, y1}} = this;
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.strokeRect(x0, y0, x1 - x0, y1 - y0);
  }

  /** The moment that the chunks are shown at. */
  drawMoment(height) {
    const {context} = this, x = Math.round(this.xOf(this.app.moment));
    context.fillStyle = theme.accent;
    context.fillRect(x, axisHeight, 2, height);
  }

  drawGutter(height) {
    const {context} = this;
    context.fillStyle = theme.pane;
    context.fillRect(0, 0, gutter, height);
    context.save();
    context.beginPath();
    context.rect(0, axisHeight, gutter, height);
    context.clip();
    for (const head of this.heads) {
      const y = axisHeight + head.top - this.scroll;
      if (y < -headHeight || y > height) continue;
      context.fillStyle = theme.row;
      context.fillRect(0, y, gutter, headHeight);
      context.fillStyle = theme.text;
      context.font = fonts.bold;
      context.fillText(`${this.groups.isOpen(head) ? "▾" : "▸"} ${head.text}`, 8 + 10 * head.depth, y + headHeight / 2);
    }
    context.font = fonts.small;
    context.fillStyle = theme.faint;
    for (const row of this.shown) {
      const y = axisHeight + row.top - this.scroll;
      if (row.isFirst && y > -firstHeight && y < height)
        context.fillText(
            row.proxy ? `proxy, port ${row.block}` : `block ${row.block}`, this.groups.hasNodes ? 32 : 22,
            y + row.height / 2);
    }
    context.restore();
    context.fillStyle = theme.line;
    context.fillRect(gutter - 1, 0, 1, height);
    if (this.height > this.visible) {  // how far it is scrolled
      const length = Math.max(24, this.visible * this.visible / this.height);
      context.fillRect(1, axisHeight + (this.visible - length) * this.scroll / (this.height - this.visible), 4, length);
    }
  }

  drawAxis(width) {
    const {context} = this, {ticks, step} = ticksOf(this.app.t0, this.app.t1, this.width);
    context.fillStyle = theme.pane;
    context.fillRect(0, 0, width, axisHeight);
    context.fillStyle = theme.line;
    context.fillRect(0, axisHeight - 1, width, 1);
    context.font = fonts.small;
    for (const tick of ticks) {
      const x = this.xOf(tick);
      if (x < gutter) continue;
      context.fillStyle = theme.faint;
      const text = tickText(tick, step);
      context.fillText(text, Math.min(x + 4, width - textWidth(context, text) - 4), axisHeight / 2);
      context.fillStyle = theme.line;
      context.fillRect(Math.round(x), axisHeight - 7, 1, 7);
    }
    context.fillStyle = theme.accent;
    const x = this.xOf(this.app.moment);
    if (x < gutter) return;
    context.beginPath();
    context.moveTo(x - 5, axisHeight - 9);
    context.lineTo(x + 7, axisHeight - 9);
    context.lineTo(x + 1, axisHeight);
    context.fill();
  }
}
