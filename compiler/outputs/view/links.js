// How much of each link, memory and engine is used over time, below the timeline and on its axis.

const linkRow = 20;

class LinksView {
  constructor(canvas, app) {
    this.canvas = canvas;
    this.app = app;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.shiftKey) return app.zoom(Math.exp(event.deltaY * 0.0016), app.timeline.timeAt(event.offsetX));
      this.scrollTo(this.scroll + event.deltaY);
      app.redraw();
    }, {passive: false});
    canvas.addEventListener("pointermove", (event) => this.tell(event));
    canvas.addEventListener("pointerleave", () => hideTip());
  }

  /** Scrolls as far as there are rows. */
  scrollTo(to) { this.scroll = Math.max(0, Math.min(to, this.series.length * linkRow - this.canvas.clientHeight)); }

  begin() {
    this.scroll = 0;
    this.all = this.read();
    this.fold();
  }
  /** Leaves out ranks that the timeline shows as others. */
  fold() {
    const {groups} = this.app.timeline;
    this.series = this.all.filter(({rank}) => groups.lists(rank));
    this.scrollTo(this.scroll);
    const isPart = groups.areSame && this.series.length < this.all.length;
    document.getElementById("links-title").textContent = `Use of links and engines${
        isPart ? ", once for ranks that do the same" : ""} (a full row: all that one can carry)`;
  }

  /** Resources that are used, each with its rate from moments on and what went through before each of them. */
  read() {
    const {traffic, rates, causes} = this.app.launch;
    const series = traffic.map((one) => ({...one, at: [0], rate: [0]}));
    for (let i = 0; i < rates.at.length; i++) {
      const one = series[rates.traffic[i]], last = one.at.length - 1;
      if (one.at[last] === rates.at[i])
        one.rate[last] = rates.rate[i] / 1e3;
      else {
        one.at.push(rates.at[i]);
        one.rate.push(rates.rate[i] / 1e3);
      }
    }
    for (const one of series) {
      one.through = new Float64Array(one.at.length);
      for (let i = 1; i < one.at.length; i++)
        one.through[i] = one.through[i - 1] + one.rate[i - 1] * (one.at[i] - one.at[i - 1]);
      one.name = `rank ${one.rank} ${causes[one.kind]}${one.peer >= 0 ? ` to ${one.peer}` : ""}`;
    }
    return series.filter((one) => one.at.length > 1)
        .sort((a, b) => a.kind - b.kind || a.rank - b.rank || a.peer - b.peer);
  }

  /** Bytes that went through until a moment. */
  until(one, time) {
    const i = Math.max(0, firstWhere(0, one.at.length, (k) => one.at[k] > time) - 1);
    return one.through[i] + one.rate[i] * Math.max(0, time - one.at[i]);
  }

  tell(event) {
    const one = this.series[Math.floor((event.offsetY + this.scroll) / linkRow)],
          time = this.app.timeline.timeAt(event.offsetX);
    if (!one) return hideTip();
    const half = (this.app.t1 - this.app.t0) / this.app.timeline.width / 2;
    const rate = event.offsetX < gutter ? one.through[one.at.length - 1] / this.app.launch.about.total :
                                          (this.until(one, time + half) - this.until(one, time - half)) / (2 * half);
    showTip(
        event, one.name,
        `${shownRate(rate)} of ${shownRate(one.capacity)}, ${shownShare(rate / one.capacity)}, ${
            event.offsetX < gutter ? "of the launch" :
                                     `at ${shownTime(time)}`}\n${shownBytes(Math.round(one.bytes))} in all`);
  }

  draw() {
    const {context, width, height} = fitCanvas(this.canvas), {app} = this;
    context.fillStyle = theme.pane;
    context.fillRect(0, 0, width, height);
    context.font = fonts.small;
    const {ticks} = ticksOf(app.t0, app.t1, app.timeline.width);
    context.fillStyle = theme.line;
    for (const tick of ticks)
      if (app.timeline.xOf(tick) >= gutter) context.fillRect(Math.round(app.timeline.xOf(tick)), 0, 1, height);
    this.series.forEach((one, i) => {
      const y = i * linkRow - this.scroll;
      if (y > -linkRow && y < height) this.drawOne(context, one, y, width);
    });
    if (this.series.length === 0) {
      context.fillStyle = theme.faint;
      context.fillText("No data moves in this launch.", gutter + 8, 16);
    }
    context.fillStyle = theme.line;
    context.fillRect(gutter - 1, 0, 1, height);
    const x = app.timeline.xOf(app.moment);
    context.fillStyle = theme.accent;
    if (x >= gutter) context.fillRect(Math.round(x), 0, 2, height);
  }

  drawOne(context, one, y, width) {
    const {t0, t1, timeline} = this.app, step = (t1 - t0) / timeline.width, top = linkRow - 4;
    context.fillStyle = theme.row;
    context.fillRect(gutter, y + 2, width - gutter, top);
    context.fillStyle = one.kind % 2 ? okabeIto.blue : okabeIto.sky;
    let from = 0, filled = 0;  // a run of pixels of one height
    const fill = (to) => filled > 0 && context.fillRect(gutter + from, y + 2 + top - filled, to - from, filled);
    let at = 0;
    const through = (time) => {
      while (at + 1 < one.at.length && one.at[at + 1] <= time) at++;
      return one.through[at] + one.rate[at] * Math.max(0, time - one.at[at]);
    };
    at = Math.max(0, firstWhere(0, one.at.length, (i) => one.at[i] > t0) - 1);
    for (let x = 0, before = through(t0); x < timeline.width; x++) {
      const after = through(t0 + (x + 1) * step), share = Math.min(1, (after - before) / step / one.capacity);
      const height = share > 1e-6 ? Math.max(1, Math.round(2 * top * share) / 2) : 0;
      before = after;
      if (height === filled) continue;
      fill(x);
      [from, filled] = [x, height];
    }
    fill(timeline.width);
    context.fillStyle = theme.faint;
    context.fillText(one.name, 8, y + linkRow / 2);
  }
}
