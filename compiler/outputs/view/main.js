// Starts the page.

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
theme.set(prefersDark.matches);
const app = new App(new Launches());
prefersDark.addEventListener("change", (event) => app.setTheme(event.matches));
writeKeys();
listenToKeys(app);
listenToBorders(app);
app.redrawAll();
