// Panes and the borders between them.

/** Lets borders be dragged, and draws again what has another size. */
function listenToBorders(app) {
  for (const border of document.querySelectorAll(".split")) {
    const target = document.getElementById(border.dataset.target), isRow = border.classList.contains("rows");
    border.addEventListener("pointerdown", (event) => {
      border.setPointerCapture(event.pointerId);
      border.classList.add("moves");
      const from = isRow ? event.clientY : event.clientX, size = isRow ? target.offsetHeight : target.offsetWidth;
      border.onpointermove = (now) => {
        target.style[isRow ? "height" : "width"] =
            `${Math.max(60, size + from - (isRow ? now.clientY : now.clientX))}px`;
      };
      border.onpointerup = () => {
        border.onpointermove = border.onpointerup = null;
        border.classList.remove("moves");
      };
    });
  }
  const watch = new ResizeObserver(() => app.redrawAll());
  for (const pane of document.querySelectorAll(".pane")) watch.observe(pane);
}
