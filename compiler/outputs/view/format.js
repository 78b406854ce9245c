// Numbers and colours as the page shows them.

function shownTime(ns) {
  const a = Math.abs(ns);
  if (a < 1e3) return `${Math.round(ns)} ns`;
  if (a < 1e6) return `${(ns / 1e3).toFixed(a < 1e4 ? 3 : 2)} µs`;
  return a < 1e9 ? `${(ns / 1e6).toFixed(3)} ms` : `${(ns / 1e9).toFixed(3)} s`;
}

function shownBytes(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; unit++) bytes /= 1024;
  return `${Number.isInteger(bytes) ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

function shownRate(gigabytes) { return `${gigabytes.toFixed(gigabytes < 10 ? 2 : 0)} GB/s`; }
function shownShare(share) { return `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`; }
function plural(count, noun) { return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`; }

/** The colours of Okabe and Ito, which the colour-blind can tell apart. Vermilion is the critical path's alone. */
const okabeIto = {
  orange: "#e69f00",
  sky: "#56b4e9",
  green: "#009e73",
  yellow: "#f0e442",
  blue: "#0072b2",
  vermilion: "#d55e00",
  purple: "#cc79a7"
};

/** By number of the class in the data; the last is that of proxies. */
const classes = [
  {name: "local copy", color: okabeIto.sky, text: "#000"},
  {name: "to or from a peer", color: okabeIto.blue, text: "#fff"},
  {name: "reduce", color: okabeIto.green, text: "#000"},
  {name: "signal", color: okabeIto.orange, text: "#000"},
  {name: "wait", color: okabeIto.yellow, text: "#000"},
  {name: "block sync", color: "#a7adb8", text: "#000"},
  {name: "proxy", color: okabeIto.purple, text: "#000"},
];

/** Covers the part of a bar in which no data flows yet. */
const paleness = "rgba(255, 255, 255, .4)";

/** Whose data a chunk holds. */
const rankColors = [
  okabeIto.blue, okabeIto.orange, okabeIto.green, okabeIto.purple, okabeIto.sky, okabeIto.vermilion, okabeIto.yellow,
  "#8a8f99"
];
const rankTexts = ["#fff", "#000", "#000", "#000", "#000", "#000", "#000", "#000"];

const fonts = {
  small: "11px system-ui, 'DejaVu Sans', sans-serif",
  bold: "600 11px system-ui, 'DejaVu Sans', sans-serif"
};

/** Colours that the style sheet gives light and dark. */
const theme = {
  read() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["page", "pane", "text", "faint", "line", "row", "accent", "full", "empty"])
      this[name] = style.getPropertyValue(`--${name}`).trim();
  },
  set(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.isDark = dark;
    this.read();
  },
};

/** Fits a canvas to its parent, or to `height`, at the screen's resolution. Answers its context and size. */
function fitCanvas(canvas, height) {
  const parent = canvas.parentElement, ratio = window.devicePixelRatio || 1;
  const size = {width: parent.clientWidth, height: Math.max(parent.clientHeight, height || 0)};
  if (canvas.width !== Math.round(size.width * ratio) || canvas.height !== Math.round(size.height * ratio)) {
    canvas.width = Math.round(size.width * ratio);
    canvas.height = Math.round(size.height * ratio);
    canvas.style.width = `${size.width}px`;
    canvas.style.height = `${size.height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.textBaseline = "middle";
  return {context, ...size};
}

const textWidths = new Map();
function textWidth(context, text) {
  const key = context.font + text;
  if (!textWidths.has(key)) textWidths.set(key, context.measureText(text).width);
  return textWidths.get(key);
}

/** Moments at which an axis of `width` pixels from t0 to t1 has its ticks. */
function ticksOf(t0, t1, width) {
  const wanted = (t1 - t0) / Math.max(1, width / 110), power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1)));
  const step = [1, 2, 5, 10].map((times) => times * power).find((one) => one >= wanted) || 10 * power;
  const ticks = [];
  for (let at = Math.ceil(t0 / step) * step; at <= t1; at += step) ticks.push(at);
  return {ticks, step};
}
/** A tick's words: as many digits as tell it from the next. */
function tickText(at, step) {
  if (at === 0) return "0";
  const [unit, size] = at < 1e3 && step < 1e3 ? ["ns", 1] :
      at < 1e6 || step < 1e4                  ? ["µs", 1e3] :
      at < 1e9                                ? ["ms", 1e6] :
                                                ["s", 1e9];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  return `${(at / size).toFixed(digits)} ${unit}`;
}
