// What is known of an operation: in the tip below the pointer, and in full for the one selected. Of many, their sums.

/** "rank 1 input 3", "rank 1 input 3–5". */
function chunksText(launch, {rank, buffer, index, size}) {
  return `rank ${rank} ${launch.buffers[buffer]} ${size > 1 ? `${index}–${index + size - 1}` : index}`;
}
function listText(launch, list) {
  const shown = list.slice(0, 8).map((one) => chunksText(launch, one)).join("; ");
  return list.length > 8 ? `${shown}; and ${list.length - 8} more` : shown;
}

function rateText(launch, span) {
  const time = launch.end[span] - launch.moving[span];
  return launch.bytes[span] && time > 0 ? `, ${shownRate(launch.bytes[span] / time)}` : "";
}

function tipText(launch, span) {
  const place = launch.placesOf(launch.op[span])[0];
  const lines = [
    launch.whereOf(span), `${shownTime(launch.end[span] - launch.start[span])}, from ${shownTime(launch.start[span])}`
  ];
  if (launch.bytes[span]) lines.push(shownBytes(launch.bytes[span]) + rateText(launch, span));
  lines.push(
      `bound by ${launch.causes[launch.bound[span]]}${launch.timeOnPath.has(span) ? ", on the critical path" : ""}`);
  if (place) lines.push(launch.nameOf(place));
  return lines.join("\n");
}

function showTip(event, title, text) {
  const tip = document.getElementById("tip");
  tip.replaceChildren(made("b", "", title), text);
  tip.hidden = false;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 6)}px`;
  tip.style.top = `${
      event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 :
                                                            event.clientY + 18}px`;
}
function hideTip() { document.getElementById("tip").hidden = true; }

class DetailsView {
  constructor(app) {
    this.app = app;
    this.body = document.getElementById("details-body");
  }

  /** Shows the operation that is selected, and sums of what was found; without either, sums of the launch. */
  update() {
    const {selected, found, beside, launch} = this.app, parts = [];
    if (selected >= 0) parts.push(this.listOf(selected));
    if (found || beside || selected < 0) parts.push(this.sums());
    if (selected < 0 && !found)
      parts.unshift(
          made("p", "hint", "Click an operation, a line or a block's name. Shift and drag: sums of a frame. ?: keys."));
    document.getElementById("details-title").textContent = selected >= 0 ?
        "Operation" :
        found || (beside && beside.found) ?
        "Sums of the selection" :
        `Sums of the launch${launch.about.extrapolated ? " (the part that was walked)" : ""}`;
    this.body.replaceChildren(...parts);
    this.body.scrollTop = 0;
  }
  say(words) { this.body.replaceChildren(made("p", "hint", words)); }

  sums() {
    const {app} = this, summed = summedOf(app.beside ? [app, app.beside] : [app]);
    if (summed.length === 2)
      return comparisonTable(
          summed.map(({one}) => one.launch), summed.map(({spans}) => spans),
          [app.index, app.besideIndex].map((i) => app.launches.nameOf(i)));
    const [{one: {launch, found}, spans}] = summed;
    return sumsTable(
        launch, spans, found ? found.spans : [...launch.timeOnPath.keys()],
        found                      ? plural(found.count, "operation") :
            launch.about.sameRanks ? "rank 0, as every rank" :
                                     `all ${plural(launch.ranks.length, "rank")}`);
  }

  listOf(span) {
    const {launch} = this.app, op = launch.op[span], list = document.createElement("dl");
    const add = (name, ...content) => {
      const value = document.createElement("dd");
      value.append(...content);
      list.append(made("dt", "", name), value);
    };
    const iteration = launch.iteration[span] ? `, iteration ${launch.iteration[span]}` : "";
    add("what", `${launch.wordOf(span)} — ${launch.whereOf(span)}${iteration}`);
    add("when",
        `${shownTime(launch.start[span])} to ${shownTime(launch.end[span])}: ${
            shownTime(launch.end[span] - launch.start[span])}`);
    if (launch.bytes[span]) add("data", shownBytes(launch.bytes[span]) + rateText(launch, span));
    const onPath = launch.timeOnPath.get(span);
    add("bound by",
        launch.causes[launch.bound[span]] +
            (onPath === undefined ?
                 "" :
                 `; ${shownTime(onPath)} of the critical path, ${shownShare(onPath / launch.about.total)}`));
    const places = launch.placesOf(op);
    if (places.length)
      add("source",
          ...places.map(
              (place) => this.link(
                  launch.nameOf(place),
                  () => (place.element ? this.app.source.show([]) : this.app.selectLine(place.file, place.line)))));
    const {reads, writes} = launch.accessesOf(span);
    if (reads.length) add("reads", listText(launch, reads));
    if (writes.length) add("writes", listText(launch, writes));
    this.addSignals(add, "signal from", launch.heardFrom.of(span), (other) => this.app.follow(other, span, other));
    this.addSignals(add, "signal to", launch.sentTo.of(span), (other) => this.app.follow(span, other, other));
    return list;
  }

  addSignals(add, name, spans, follow) {
    if (!spans.length) return;
    const links = [...spans.subarray(0, 6)].map(
        (span) => this.link(`${this.app.launch.wordOf(span)}, ${this.app.launch.whereOf(span)}`, () => follow(span)));
    add(name, ...links, spans.length > 6 ? `and ${spans.length - 6} more` : "");
  }

  link(text, action) {
    const button = made("button", "link", text);
    button.onclick = action;
    return button;
  }
}
