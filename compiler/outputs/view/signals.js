// Signals of the timeline as arrows, from the end of what sent one to the end of what waited for it.

/** Above so many in sight only those of the operation selected are drawn. */
const mostSignals = 200;

function drawSignals(view) {
  const {launch, app} = view;
  const first = firstWhere(0, launch.from.length, (i) => launch.end[launch.from[i]] >= app.t0 - launch.longestMessage);
  const last = firstWhere(first, launch.from.length, (i) => launch.end[launch.from[i]] > app.t1);
  const inSight = [];
  for (let i = first; i < last && last - first < 20 * mostSignals && inSight.length <= mostSignals; i++) {
    const [a, b] = [view.yOf(launch.from[i]), view.yOf(launch.to[i])];
    if (launch.end[launch.to[i]] >= app.t0 && Math.max(a, b) >= axisHeight &&
        Math.min(a, b) <= axisHeight + view.visible)
      inSight.push(i);
  }
  if (last - first < 20 * mostSignals && inSight.length <= mostSignals) {
    view.context.globalAlpha = app.selected >= 0 ? 0.25 : 0.5;
    for (const i of inSight) drawSignal(view, launch.from[i], launch.to[i], theme.faint, 1);
    view.context.globalAlpha = 1;
  }
  for (const span of new Set([app.hovered, app.selected]))
    if (span >= 0) {
      for (const to of launch.sentTo.of(span).subarray(0, mostSignals)) drawSignal(view, span, to, theme.text, 1.5);
      for (const from of launch.heardFrom.of(span).subarray(0, mostSignals))
        drawSignal(view, from, span, theme.text, 1.5);
    }
  const [from, to] = app.followed;
  if (to !== undefined) drawSignal(view, from, to, theme.accent, 3);
}

function drawSignal(view, from, to, color, width) {
  const {context, launch} = view;
  const x0 = view.xOf(launch.end[from]), y0 = view.yOf(from), x1 = view.xOf(launch.end[to]), y1 = view.yOf(to);
  const bend = Math.max(14, Math.min(60, Math.abs(x1 - x0) / 2));
  context.strokeStyle = context.fillStyle = color;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  context.stroke();
  const size = 4 + width;
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - size, y1 - size / 2);
  context.lineTo(x1 - size, y1 + size / 2);
  context.fill();
  context.beginPath();
  context.arc(x0, y0, 1 + width, 0, 2 * Math.PI);
  context.fill();
}
