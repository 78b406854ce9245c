// The head and the legends of a launch, and the list of keys.

function writeHead(launch) {
  const {about} = launch;
  document.title = `${about.program} · ${about.machine}`;
  document.getElementById("program").textContent = about.program;
  document.getElementById("about").textContent =
      `${about.collective}${about.inPlace ? " in place" : ""} · ${plural(launch.ranks.length, "rank")}${
          about.sameRanks ? " that do the same" : ""} · ${shownBytes(about.bytes)} · ${about.machine} · run by ${
          about.runBy}${about.scheduledFor ? ` · scheduled for ${shownBytes(about.scheduledFor)}` : ""}`;
  document.getElementById("total").textContent = shownTime(about.total) + (about.extrapolated ? " (extrapolated)" : "");
  document.getElementById("bound").textContent =
      `bounds: links ${shownTime(about.linkBound)}, latency ${shownTime(about.latencyBound)}`;
  const spent = about.spent.map((time, i) => ({time, name: launch.causes[i]}))
                    .filter(({time}) => time / about.total >= 0.005)
                    .sort((a, b) => b.time - a.time);
  document.getElementById("spent").replaceChildren("goes to: ", ...spent.map(({time, name}) => {
    const words = made("span", "", `${name} `);
    words.append(made("b", "", shownShare(time / about.total)));
    return words;
  }));
  const used = new Set(launch.opClass);
  if (launch.rows.some((row) => row.proxy)) used.add(classes.length - 1);
  const legend = (id, entries) =>
      document.getElementById(id).replaceChildren(...entries.map(([name, background, style = ""]) => {
        const words = made("span", ""), box = made("i", "");
        box.style.cssText = `background: ${background}; ${style}`;
        words.append(box, name);
        return words;
      }));
  legend("legend", [
    ...classes.filter((_, i) => used.has(i)).map(({name, color}) => [name, color]),
    ["pale: latency; dark: data flows", `linear-gradient(90deg, ${paleness} 50%, transparent 50%), ${okabeIto.blue}`],
    ["faded: not in the selection", okabeIto.blue, "opacity: .22"],
    ["critical path", okabeIto.vermilion, "height: 4px; margin-bottom: 2px"]
  ]);
  const [a, b, c] = rankColors, some = `linear-gradient(90deg, ${a} 33%, ${b} 33% 66%, ${c} 66%)`;
  legend("chunks-legend", [
    ["data of rank 0", rankColors[0]], ["of some ranks, reduced", launch.ranks.length > 8 ? okabeIto.sky : some],
    ["of all ranks, reduced", "var(--full)"], ["empty", "var(--empty)"], ["read now", "none", "border: 2px solid"],
    ["written now", "none", `border: 2px solid ${okabeIto.vermilion}`]
  ]);
}

function writeKeys() {
  document.getElementById("help-keys").append(...keys.filter(([shown]) => shown).flatMap(([shown, , , what]) => {
    const cell = made("span", "");
    cell.append(
        ...(shown.includes("click") ? [shown] : shown.split(" ")).flatMap((key) => [made("kbd", "", key), " "]));
    return [cell, made("span", "", what)];
  }));
}
