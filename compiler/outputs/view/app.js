// What the parts of the page share: the range of time in sight, the moment, what is selected.

/** A launch that is shown, and what of it is pointed at. */
class Shown {
  constructor(launch) {
    this.launch = launch;
    this.forget();
  }
  forget() {
    this.selected = this.hovered = -1;
    this.followed = [];  // the two ends of a signal
    this.found = null;   // what search, a line or a frame found
  }

  hover(span, event) {
    if (span !== this.hovered) {
      this.hovered = span;
      this.redraw();
    }
    if (span < 0 || !event) return hideTip();
    showTip(event, this.launch.wordOf(span), tipText(this.launch, span));
  }
  isDimmed(span, next) { return this.found !== null && this.found.before[next] === this.found.before[span]; }
  zoomTo(span) {
    const length = this.launch.end[span] - this.launch.start[span];
    this.show(this.launch.start[span] - length * 2, length * 5);
  }
}

class App extends Shown {
  constructor(launches) {
    super(launches.get(0));
    this.launches = launches;
    this.index = 0;
    this.besideIndex = -1;
    this.beside = null;
    this.timeline = new TimelineView(document.getElementById("timeline"), this);
    this.links = new LinksView(document.getElementById("links"), this);
    this.details = new DetailsView(this);
    this.source = new SourceView(this);
    this.chunks = new ChunksView(document.getElementById("chunks"), this);
    this.lower = new Beside(this);
    this.chooser = new LaunchChooser(this);
    this.open(0);
  }

  /** Shows a launch, by its number. */
  open(index) {
    this.index = index;
    this.launch = this.launches.get(index);
    this.forget();
    this.lower.forget();
    document.getElementById("search").value = "";
    for (const view of [this.timeline, this.links, this.source, this.chunks]) view.begin();
    this.moment = this.chunks.steps[0] || 0;  // that chunks are shown at
    writeHead(this.launch);
    this.showFound();
    this.begin();
  }
  /** Shows a launch, by its number, below the first one; −1: none. */
  setBeside(index) {
    this.besideIndex = index;
    this.beside = index < 0 ? null : this.lower;
    for (const one of document.querySelectorAll(".beside")) one.hidden = !this.beside;
    if (this.beside) {
      this.beside.open(this.launches.get(index));
      document.getElementById("beside-title").textContent =
          `${this.launches.nameOf(index)}: ${shownTime(this.beside.launch.about.total)}`;
    }
    this.begin();
  }
  /** Begins anew with what is shown. */
  begin() {
    this.total = Math.max(this.launch.about.total, this.beside ? this.beside.launch.about.total : 0, 1);
    this.chooser.update();
    this.details.update();
    this.fit();
    this.redrawAll();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }
  draw() {
    this.timeline.draw();
    if (this.beside) this.beside.timeline.draw();
    this.links.draw();
    if (this.shownMoment !== this.moment || this.shownSelected !== this.selected || this.stale) this.chunks.draw();
    [this.shownMoment, this.shownSelected, this.stale] = [this.moment, this.selected, false];
  }
  redrawAll() {
    this.stale = true;
    this.redraw();
  }

  /** Shows `length` of time from t0 on, within the launch and a little around it. */
  show(t0, length) {
    const margin = this.total * 0.02;
    length = Math.max(20, Math.min(length, this.total + 2 * margin));
    this.t0 = Math.max(-margin, Math.min(t0, this.total + margin - length));
    this.t1 = this.t0 + length;
    this.redraw();
  }
  fit() { this.show(-this.total * 0.02, this.total * 1.04); }
  zoom(factor, around = (this.t0 + this.t1) / 2) {
    this.show(around - (around - this.t0) * factor, (this.t1 - this.t0) * factor);
  }
  pan(share) { this.show(this.t0 + share * (this.t1 - this.t0), this.t1 - this.t0); }
  /** Moves so that all of `spans` can be seen. */
  bringIn(spans) {
    const low = Math.min(...spans.map((span) => this.launch.start[span])),
          high = Math.max(...spans.map((span) => this.launch.end[span]));
    const length = this.t1 - this.t0;
    if (high - low > length)
      this.show(low - (high - low) * 0.1, (high - low) * 1.2);
    else if (low < this.t0 || high > this.t1)
      this.show((low + high - length) / 2, length);
  }

  /** Selects a span, or none (−1). `follow`: shows the signal that it waited for; `stay`: it can be seen already. */
  select(span, {follow = false, stay = false} = {}) {
    this.selected = span;
    this.followed = [];
    if (span >= 0) {
      const from = this.launch.heardFrom.of(span);
      if (follow && from.length) this.followed = [from[from.length - 1], span];
      if (!stay) {
        this.bringIn([span]);
        this.timeline.reveal(span);
      }
      if (this.launch.bytes[span]) this.setMoment((this.launch.moving[span] + this.launch.end[span]) / 2);
      this.source.show(this.launch.placesOf(this.launch.op[span]));
    }
    if (span >= 0) this.chunks.follow(span);
    this.details.update();
    this.redraw();
  }
  /** Shows a signal from end to end and selects one of them. */
  follow(from, to, selected) {
    this.select(selected, {stay: true});
    this.followed = [from, to];
    this.bringIn([from, to]);
    this.timeline.reveal(selected);
  }
  /** To the other end of a signal: from a wait to what sent it, from a signal to what waited for it. */
  followOn() {
    if (this.selected < 0) return;
    const [from, to] = this.followed;
    if (this.selected === to) return this.follow(from, to, from);
    if (this.selected === from) return this.follow(from, to, to);
    const [sent] = this.launch.sentTo.of(this.selected), [heard] = this.launch.heardFrom.of(this.selected);
    if (heard !== undefined)
      this.follow(heard, this.selected, heard);
    else if (sent !== undefined)
      this.follow(this.selected, sent, sent);
  }
  stepPath(by) {
    const {pathSpans, start} = this.launch;
    if (!pathSpans.length) return;
    let at = pathSpans.indexOf(this.selected);
    if (at >= 0)
      at += by;
    else
      at = this.selected < 0 ?
          (by > 0 ? 0 : pathSpans.length - 1) :
          firstWhere(0, pathSpans.length, (i) => start[pathSpans[i]] > start[this.selected]) - (by > 0 ? 0 : 1);
    this.select(pathSpans[Math.max(0, Math.min(at, pathSpans.length - 1))], {follow: true});
  }

  find(found, select = true) {
    this.found = found;
    if (!found && this.beside) this.beside.found = null;
    this.showFound();
    this.details.update();
    if (found && found.count && select) this.select(found.spans[0], {follow: true});
    this.redraw();
  }
  search(query) {
    if (this.beside) this.beside.found = foundBy(this.beside.launch, query);
    this.find(foundBy(this.launch, query), false);
  }
  nextFound(by) {
    if (!this.found || !this.found.count) return;
    this.select(this.found.next(this.selected, by), {follow: true});
    this.showFound();
  }
  showFound() {
    const at = this.found ? this.found.spans.indexOf(this.selected) : -1;
    document.getElementById("found").textContent = !this.found ? "" :
        at < 0 ? `${this.found.count.toLocaleString("en")} found` :
                 `${at + 1} of ${this.found.count.toLocaleString("en")}`;
  }
  selectLine(file, line) {
    const ops = new Set(this.source.opsOfLine.get(`${file}:${line}`) || []);
    document.getElementById("search").value = `line ${line}`;
    this.find(new Found(this.launch, (span) => ops.has(this.launch.op[span])));
    this.showFound();
    this.source.show([{file, line}]);
  }

  setMoment(time) {
    this.moment = Math.max(0, Math.min(time, this.launch.about.total));
    if (this.moment < this.t0 || this.moment > this.t1)
      this.show(this.moment - (this.t1 - this.t0) / 2, this.t1 - this.t0);
    this.redraw();
  }
  clear() {
    document.getElementById("search").value = "";
    this.find(null);
    this.select(-1);
    this.source.show([]);
  }
  setTheme(dark) {
    theme.set(dark);
    this.redrawAll();
  }
}
