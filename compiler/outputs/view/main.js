// Starts the page.

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
theme.set(prefersDark.matches);
const app = new App(new Launch(JSON.parse(document.getElementById("data").textContent)));
prefersDark.addEventListener("change", (event) => app.setTheme(event.matches));
writeHead(app.launch);
listenToKeys(app);
listenToBorders(app);
app.redrawAll();
