// Wheel and pointer on the timeline: zoom where the pointer is, drag to move or, with Shift, to frame operations, click
// to select.

function listenToPointer(view) {
  const {canvas, app} = view;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const scale = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey || event.offsetX < gutter)
      return view.scrollTo(view.scroll + (event.deltaY || event.deltaX) * scale);
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) return app.pan(event.deltaX * scale / view.width);
    app.zoom(Math.exp(event.deltaY * scale * 0.0016), view.timeAt(event.offsetX));
  }, {passive: false});

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.focus();
    canvas.setPointerCapture(event.pointerId);
    drag = {
      x: event.offsetX,
      y: event.offsetY,
      t0: app.t0,
      scroll: view.scroll,
      moved: false,
      onAxis: event.offsetY < axisHeight,
      framing: event.shiftKey
    };
    if (drag.onAxis) app.setMoment(view.timeAt(event.offsetX));
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return app.hover(view.spanAt(event.offsetX, event.offsetY), event);
    if (drag.onAxis) return app.setMoment(view.timeAt(event.offsetX));
    drag.moved ||= Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > 4;
    if (!drag.moved) return;
    app.hover(-1);
    if (drag.framing) return view.setFrame(drag, {x: event.offsetX, y: event.offsetY});
    const length = app.t1 - app.t0;
    app.show(drag.t0 - (event.offsetX - drag.x) * length / view.width, length);
    view.scrollTo(drag.scroll - (event.offsetY - drag.y));
  });
  canvas.addEventListener("pointerup", (event) => {
    const was = drag;
    drag = null;
    if (was && was.framing && was.moved) return view.takeFrame();
    if (!was || was.moved || was.onAxis) return;
    const inGutter = event.offsetX < gutter, head = inGutter && view.headAt(event.offsetY),
          row = inGutter && view.rowAt(event.offsetY);
    if (head) return view.toggle(head);
    if (row) return app.find(new Found(view.launch, (span) => view.isOfBlock(span, row)), false);
    app.select(view.spanAt(event.offsetX, event.offsetY), {follow: true, stay: true});
  });
  canvas.addEventListener("pointerleave", () => app.hover(-1));
  canvas.addEventListener("dblclick", (event) => {
    const span = view.spanAt(event.offsetX, event.offsetY);
    if (span >= 0) app.zoomTo(span);
  });
}
