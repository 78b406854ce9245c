// A second launch below the first one, on the same axis of time. What is selected in it is its own.

class Beside extends Shown {
  constructor(app) {
    super(app.launch);
    this.app = app;
    this.timeline = new TimelineView(document.getElementById("beside"), this);
  }
  open(launch) {
    this.launch = launch.withOwnRows();  // it may be the first one
    this.forget();
    this.timeline.begin();
  }
  get t0() { return this.app.t0; }
  get t1() { return this.app.t1; }
  get moment() { return this.app.moment; }
  redraw() { this.app.redraw(); }
  show(t0, length) { this.app.show(t0, length); }
  zoom(factor, around) { this.app.zoom(factor, around); }
  pan(share) { this.app.pan(share); }
  setMoment(time) { this.app.setMoment(time); }
  select(span) {
    this.selected = span;
    this.redraw();
  }
  find(found) {
    this.found = found;
    this.app.details.update();
    this.redraw();
  }
}
