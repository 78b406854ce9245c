// The source beside the timeline: a line leads to its operations, an operation to its lines.

class SourceView {
  constructor(app) {
    this.app = app;
    this.box = document.getElementById("source");
    this.chooser = document.getElementById("source-file");
    this.title = document.getElementById("source-title");
    this.chooser.onchange = () => this.open(Number(this.chooser.value));
    this.box.addEventListener("click", (event) => {
      const line = event.target.closest(".line.has");
      if (line && !String(window.getSelection())) app.selectLine(this.file, Number(line.dataset.line));
    });
  }

  begin() {
    this.opsOfLine = new Map();   // "file:line" -> operations
    this.pathOfLine = new Map();  // "file:line" -> nanoseconds of the critical path
    this.readPlaces();
    this.texts = this.app.launch.files.map((file, index) => ({...file, index})).filter((file) => file.text);
    this.chooser.hidden = this.texts.length < 2;
    this.chooser.replaceChildren(...this.texts.map((file) => new Option(file.name.replace(/^.*\//, ""), file.index)));
    this.file = -1;
    if (this.texts.length)
      this.open(this.mostUsed());
    else
      this.sayNothing();
  }

  readPlaces() {
    const {launch} = this.app;
    for (let op = 0; op < launch.numOps; op++)
      for (const place of launch.placesOf(op)) {
        if (place.element) continue;
        const key = `${place.file}:${place.line}`, list = this.opsOfLine.get(key);
        if (!list)
          this.opsOfLine.set(key, [op]);
        else if (list[list.length - 1] !== op)
          list.push(op);
      }
    for (const [span, time] of launch.timeOnPath) {
      const place = launch.placesOf(launch.op[span])[0];
      if (!place || place.element) continue;
      const key = `${place.file}:${place.line}`;
      this.pathOfLine.set(key, (this.pathOfLine.get(key) || 0) + time);
    }
  }

  mostUsed() {
    const count = new Map();
    for (const [key, ops] of this.opsOfLine) count.set(parseInt(key), (count.get(parseInt(key)) || 0) + ops.length);
    return this.texts.reduce((a, b) => ((count.get(b.index) || 0) > (count.get(a.index) || 0) ? b : a)).index;
  }

  sayNothing() {
    const files = this.app.launch.files.map((file) => file.name).join(", ");
    this.title.textContent = "Source";
    const words = document.createElement("p");
    words.style.padding = "4px 10px";
    words.textContent = this.app.launch.elements.length ?
        `${files} is a plan and has no source. An operation's place in it is shown above.` :
        "The text of the source is not at hand.";
    this.box.replaceChildren(words);
  }

  open(file) {
    if (this.file === file) return;
    this.file = file;
    this.chooser.value = file;
    const {name} = this.app.launch.files[file];
    this.title.textContent = this.texts.length < 2 ? name.replace(/^.*\//, "") : "Source";
    this.title.title = name;
    const lines = this.app.launch.files[file].text.replace(/\n$/, "").split("\n"), total = this.app.launch.about.total;
    let inComment = false;
    this.box.replaceChildren(...lines.map((text, i) => {
      const key = `${file}:${i + 1}`, line = document.createElement("div"), has = this.opsOfLine.has(key);
      line.className = has ? "line has" : "line";
      line.dataset.line = i + 1;
      if (has) line.title = `${plural(this.opsOfLine.get(key).length, "operation")}: click to find them`;
      const share = (this.pathOfLine.get(key) || 0) / total;
      line.append(
          made("span", "number", i + 1), made("span", "share", share >= 0.001 ? shownShare(share) : ""),
          made("span", "code"));
      inComment = colorCode(line.lastChild, text.replace(/\r$/, ""), inComment);
      return line;
    }));
  }

  /** Marks the lines of the operation selected, or the line selected. */
  show(places) {
    const inText = places.filter((place) => this.texts.some((file) => file.index === place.file));
    if (inText.length) this.open(inText[0].file);
    for (const line of this.box.querySelectorAll(".line.on")) line.classList.remove("on");
    const marked = inText.filter((place) => place.file === this.file)
                       .map((place) => this.box.children[place.line - 1])
                       .filter(Boolean);
    for (const line of marked) line.classList.add("on");
    if (!marked.length) return;
    const top = marked[0].offsetTop - this.box.offsetTop;
    if (top < this.box.scrollTop || top > this.box.scrollTop + this.box.clientHeight - 30)
      this.box.scrollTop = top - this.box.clientHeight / 3;
  }
}

function made(tag, className, text = "") {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  return element;
}

const codeTokens =
    /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|<[\w/.]+>(?=\s*$))|(\b(?:auto|bool|break|class|const|constexpr|continue|do|else|enum|false|for|if|inline|int|namespace|new|return|static|struct|switch|template|true|typename|unsigned|using|void|while)\b|^\s*#\s*\w+)|(\b\d[\w.']*)/g;

/** Puts a line of C++ into `element`, in colours; answers whether a comment goes on after it. */
function colorCode(element, text, inComment) {
  let at = 0;
  const add = (end, name) => {
    if (end > at) element.append(name ? made("span", name, text.slice(at, end)) : text.slice(at, end));
    at = end;
  };
  if (inComment) {
    const end = text.indexOf("*/");
    if (end < 0) return add(text.length, "comment"), true;
    add(end + 2, "comment");
  }
  const rest = at;
  for (const match of text.slice(rest).matchAll(codeTokens)) {
    add(rest + match.index);
    add(rest + match.index + match[0].length,
        match[1]     ? "comment" :
            match[2] ? "string" :
            match[3] ? "keyword" :
                       "number-literal");
    if (match[1] && match[1].startsWith("/*") && !match[1].endsWith("*/")) return true;
  }
  add(text.length);
  return false;
}
