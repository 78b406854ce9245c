// The launches of the page, and those of pages that were added to it.

class Launches {
  constructor() {
    this.all = [];
    this.add(document, "");
  }

  /** Adds the launches of a page, which is `from` a file of this name. Answers how many. */
  add(page, from) {
    const found = [...page.querySelectorAll("script.launch")].map((script) => JSON.parse(script.textContent));
    this.all.push(...found.map((json) => ({json, from, launch: null})));
    return found.length;
  }

  get(index) {
    const one = this.all[index];
    one.launch ||= new Launch(one.json);
    one.json = {about: one.json.about};
    return one.launch;
  }

  nameOf(index) {
    const {json: {about}, from} = this.all[index];
    return `${from ? `${from}: ` : ""}${about.program}, ${shownBytes(about.bytes)}, ${about.machine}`;
  }
}

/** Keeps the choosers of launches. They are hidden while there is one launch. */
class LaunchChooser {
  constructor(app) {
    this.app = app;
    this.launch = document.getElementById("launch");
    this.beside = document.getElementById("beside-launch");
    this.file = document.getElementById("page-file");
    this.launch.onchange = () => app.open(Number(this.launch.value));
    this.beside.onchange = () => app.setBeside(Number(this.beside.value));
    this.file.onchange = () => this.addFiles(this.file.files);
    document.getElementById("page-add").onclick = () => this.file.click();
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      this.addFiles(event.dataTransfer.files);
    });
    this.update();
  }

  update() {
    const {launches} = this.app, names = launches.all.map((_, i) => launches.nameOf(i));
    this.launch.replaceChildren(...names.map((name, i) => new Option(name, i)));
    this.beside.replaceChildren(new Option("nothing", -1), ...names.map((name, i) => new Option(name, i)));
    this.launch.value = this.app.index;
    this.beside.value = this.app.besideIndex;
    document.getElementById("launches").hidden = names.length < 2;
  }

  async addFiles(files) {
    for (const file of files) this.addPage(await file.text(), file.name);
    this.file.value = "";
  }
  /** Adds the launches of a page's text, and shows the first of them beside. */
  addPage(text, name) {
    const {launches} = this.app, first = launches.all.length;
    if (launches.add(new DOMParser().parseFromString(text, "text/html"), name) === 0)
      return this.app.details.say(`${name} is no page of mscclc --emit-html with launches`);
    this.app.setBeside(first);
  }
}
