// What the parts of the page share: the range of time in sight, what is selected, keys and buttons.

class App {
  constructor(launch) {
    this.launch = launch;
    this.selected = this.hovered = -1;
    this.followed = []; // the two ends of a signal
    this.found = null; // what search or a line found
    this.moment = 0; // that chunks are shown at
    this.total = Math.max(launch.about.total, 1);
    this.t0 = 0;
    this.t1 = this.total;
    this.timeline = new TimelineView(document.getElementById("timeline"), this);
    this.links = new LinksView(document.getElementById("links"), this);
    this.details = new DetailsView(this);
    this.source = new SourceView(this);
    this.chunks = new ChunksView(document.getElementById("chunks"), this);
    this.moment = this.chunks.contents.steps[0] || 0;
    this.fit();
    this.details.show(-1);
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
  zoom(factor, around = (this.t0 + this.t1) / 2) { this.show(around - (around - this.t0) * factor, (this.t1 - this.t0) * factor); }
  pan(share) { this.show(this.t0 + share * (this.t1 - this.t0), this.t1 - this.t0); }
  zoomTo(span) {
    const length = this.launch.end[span] - this.launch.start[span];
    this.show(this.launch.start[span] - length * 2, length * 5);
  }
  /** Moves so that all of `spans` can be seen. */
  bringIn(spans) {
    const low = Math.min(...spans.map((span) => this.launch.start[span])), high = Math.max(...spans.map((span) => this.launch.end[span]));
    const length = this.t1 - this.t0;
    if (high - low > length) this.show(low - (high - low) * 0.1, (high - low) * 1.2);
    else if (low < this.t0 || high > this.t1) this.show((low + high - length) / 2, length);
  }

  hover(span, event) {
    if (span !== this.hovered) {
      this.hovered = span;
      this.redraw();
    }
    if (span < 0 || !event) return this.hideTip();
    this.showTip(event, this.launch.wordOf(span), tipText(this.launch, span));
  }
  showTip(event, title, text) {
    const tip = document.getElementById("tip");
    tip.replaceChildren(made("b", "", title), text);
    tip.hidden = false;
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 6)}px`;
    tip.style.top = `${event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18}px`;
  }
  hideTip() { document.getElementById("tip").hidden = true; }

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
    this.details.show(span);
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
    if (heard !== undefined) this.follow(heard, this.selected, heard);
    else if (sent !== undefined) this.follow(this.selected, sent, sent);
  }
  stepPath(by) {
    const {pathSpans, start} = this.launch;
    if (!pathSpans.length) return;
    let at = pathSpans.indexOf(this.selected);
    if (at >= 0) at += by;
    else at = this.selected < 0 ? (by > 0 ? 0 : pathSpans.length - 1) : firstWhere(0, pathSpans.length, (i) => start[pathSpans[i]] > start[this.selected]) - (by > 0 ? 0 : 1);
    this.select(pathSpans[Math.max(0, Math.min(at, pathSpans.length - 1))], {follow: true});
  }

  isDimmed(span, next) { return this.found !== null && this.found.before[next] === this.found.before[span]; }
  find(found, select = true) {
    this.found = found;
    this.showFound();
    if (found && found.count && select) this.select(found.spans[0], {follow: true});
    this.redraw();
  }
  search(query) {
    const tests = parseQuery(this.launch, query);
    this.find(tests.length ? new Found(this.launch, (span) => tests.every((test) => test(span))) : null, false);
  }
  nextFound(by) {
    if (!this.found || !this.found.count) return;
    this.select(this.found.next(this.selected, by), {follow: true});
    this.showFound();
  }
  showFound() {
    const at = this.found ? this.found.spans.indexOf(this.selected) : -1;
    document.getElementById("found").textContent = !this.found ? "" : at < 0 ? `${this.found.count.toLocaleString("en")} found` : `${at + 1} of ${this.found.count.toLocaleString("en")}`;
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
    if (this.moment < this.t0 || this.moment > this.t1) this.show(this.moment - (this.t1 - this.t0) / 2, this.t1 - this.t0);
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

/** Keys: [what is shown in the help, names of keys, what they do, what that is]. */
const keys = [
  ["wheel", [], null, "zoom; with shift, or on the names at the left, scroll"],
  ["drag", [], null, "move; on the axis, choose the moment that chunks are shown at"],
  ["double click", [], null, "zoom to an operation"],
  ["w s + −", ["w", "+", "="], (app) => app.zoom(0.7), "zoom in and out"],
  ["", ["s", "-"], (app) => app.zoom(1 / 0.7)],
  ["a d", ["a"], (app) => app.pan(-0.2), "move left and right"],
  ["", ["d"], (app) => app.pan(0.2)],
  ["↑ ↓", ["ArrowUp"], (app) => app.timeline.scrollTo(app.timeline.scroll - 60), "scroll"],
  ["", ["ArrowDown"], (app) => app.timeline.scrollTo(app.timeline.scroll + 60)],
  ["0", ["0"], (app) => app.fit(), "show the whole launch"],
  ["z", ["z"], (app) => app.selected >= 0 && app.zoomTo(app.selected), "zoom to the operation selected"],
  [", .", [","], (app) => app.stepPath(-1), "earlier and later on the critical path"],
  ["", ["."], (app) => app.stepPath(1)],
  ["f", ["f"], (app) => app.followOn(), "follow the signal to its other end"],
  ["← →", ["ArrowLeft"], (app) => app.chunks.step(-1), "step through the chunks' moves; Home and End: first and last"],
  ["", ["ArrowRight"], (app) => app.chunks.step(1)],
  ["", ["Home"], (app) => app.setMoment(0)],
  ["", ["End"], (app) => app.setMoment(app.launch.about.total)],
  ["space", [" "], (app) => app.chunks.play(), "play and pause"],
  ["/", ["/"], () => document.getElementById("search").focus(), "search; Enter and n: next found, N: the one before"],
  ["", ["n"], (app) => app.nextFound(1)],
  ["", ["N"], (app) => app.nextFound(-1)],
  ["t", ["t"], (app) => app.setTheme(!theme.isDark), "light or dark"],
  ["Esc", ["Escape"], (app) => app.clear(), "select and search nothing"],
  ["?", ["?"], () => document.getElementById("help").showModal(), "this list"],
];

function listenToKeys(app) {
  const table = new Map(keys.flatMap(([, names, action]) => names.map((name) => [name, action])));
  addEventListener("keydown", (event) => {
    const field = event.target.closest("input, select, dialog");
    if (event.ctrlKey || event.metaKey || event.altKey || (field && !(field.id === "search" && event.key === "Escape"))) return;
    if (event.target.closest("button") && (event.key === " " || event.key === "Enter")) return;
    const action = table.get(event.key);
    if (!action) return;
    event.preventDefault();
    action(app);
    if (event.key === "Escape") document.activeElement.blur();
  });
  const search = document.getElementById("search");
  let typed = 0;
  search.oninput = () => {
    clearTimeout(typed);
    typed = setTimeout(() => app.search(search.value), 120);
  };
  search.onkeydown = (event) => {
    if (event.key === "Enter") app.nextFound(event.shiftKey ? -1 : 1);
  };
  const buttons = {"path-previous": ",", "path-next": ".", fit: "0", theme: "t", "help-open": "?", "step-first": "Home", "step-back": "ArrowLeft", play: " ", "step-on": "ArrowRight", "step-last": "End"};
  for (const [id, key] of Object.entries(buttons)) document.getElementById(id).onclick = () => table.get(key)(app);
}

function writeHead(launch) {
  const {about} = launch;
  document.title = `${about.program} · ${about.machine}`;
  document.getElementById("program").textContent = about.program;
  document.getElementById("about").textContent = `${about.collective}${about.inPlace ? " in place" : ""} · ${plural(launch.ranks.length, "rank")} · ${shownBytes(about.bytes)} · ${about.machine} · run by ${about.runBy}`;
  document.getElementById("total").textContent = shownTime(about.total) + (about.extrapolated ? " (extrapolated)" : "");
  document.getElementById("bound").textContent = `bounds: links ${shownTime(about.linkBound)}, latency ${shownTime(about.latencyBound)}`;
  const spent = about.spent.map((time, i) => ({time, name: launch.causes[i]})).filter(({time}) => time / about.total >= 0.005).sort((a, b) => b.time - a.time);
  document.getElementById("spent").replaceChildren("goes by for: ", ...spent.map(({time, name}) => {
    const words = made("span", "", `${name} `);
    words.append(made("b", "", shownShare(time / about.total)));
    return words;
  }));
  const used = new Set(launch.opClass);
  if (launch.rows.some((row) => row.proxy)) used.add(classes.length - 1);
  const legend = classes.filter((_, i) => used.has(i)).map(({name, color}) => [name, color, ""]);
  document.getElementById("legend").replaceChildren(...[...legend, ["critical path", okabeIto.vermilion, "path"]].map(([name, color, className]) => {
    const words = made("span", ""), box = made("i", className);
    box.style.background = color;
    words.append(box, name);
    return words;
  }));
  document.getElementById("help-keys").append(...keys.filter(([shown]) => shown).flatMap(([shown, , , what]) => {
    const cell = made("span", "");
    cell.append(...(/ [^ ]+ |click/.test(shown) && shown.includes("click") ? [shown] : shown.split(" ")).flatMap((key) => [made("kbd", "", key), " "]));
    return [cell, made("span", "", what)];
  }));
}

/** Borders between panes that can be dragged. */
function listenToBorders(app) {
  for (const border of document.querySelectorAll(".split")) {
    const target = document.getElementById(border.dataset.target), isRow = border.classList.contains("rows");
    border.addEventListener("pointerdown", (event) => {
      border.setPointerCapture(event.pointerId);
      border.classList.add("moves");
      const from = isRow ? event.clientY : event.clientX, size = isRow ? target.offsetHeight : target.offsetWidth;
      border.onpointermove = (now) => { target.style[isRow ? "height" : "width"] = `${Math.max(60, size + from - (isRow ? now.clientY : now.clientX))}px`; };
      border.onpointerup = () => {
        border.onpointermove = border.onpointerup = null;
        border.classList.remove("moves");
      };
    });
  }
  const watch = new ResizeObserver(() => app.redrawAll());
  for (const pane of document.querySelectorAll(".pane")) watch.observe(pane);
}

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
theme.set(prefersDark.matches);
const app = new App(new Launch(JSON.parse(document.getElementById("data").textContent)));
prefersDark.addEventListener("change", (event) => app.setTheme(event.matches));
writeHead(app.launch);
listenToKeys(app);
listenToBorders(app);
app.redrawAll();
