// Keys and buttons.

/** Keys: [what is shown in the help, names of keys, what they do, what that is]. */
const keys = [
  ["wheel", [], null, "zoom; with shift, or on the names at the left, scroll"],
  ["drag", [], null, "move; on the axis, choose the moment that chunks are shown at"],
  ["shift drag", [], null, "frame operations, for their sums; a click on a block's name takes those of the block"],
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
  [
    "m", ["m"], (app) => app.chunks.choose(app.chunks.rank === null ? 0 : null),
    "moves of all ranks, or of one, in the chunks"
  ],
  ["t", ["t"], (app) => app.setTheme(!theme.isDark), "light or dark"],
  ["Esc", ["Escape"], (app) => app.clear(), "select and search nothing"],
  ["?", ["?"], () => document.getElementById("help").showModal(), "this list"],
];

function listenToKeys(app) {
  const table = new Map(keys.flatMap(([, names, action]) => names.map((name) => [name, action])));
  addEventListener("keydown", (event) => {
    const field = event.target.closest("input, select, dialog");
    if (event.ctrlKey || event.metaKey || event.altKey || (field && !(field.id === "search" && event.key === "Escape")))
      return;
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
  const buttons = {
    "path-previous": ",",
    "path-next": ".",
    fit: "0",
    theme: "t",
    "help-open": "?",
    "step-first": "Home",
    "step-back": "ArrowLeft",
    play: " ",
    "step-on": "ArrowRight",
    "step-last": "End"
  };
  for (const [id, key] of Object.entries(buttons)) document.getElementById(id).onclick = () => table.get(key)(app);
}
