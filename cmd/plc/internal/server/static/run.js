// Keeps the page of a run as the run is. When something has happened, the page is fetched again, and
// its numbers, graph and tables change together: all of them tell the run after one event. The slider
// shows the run as it was.
import { load, swap, throttled, watch } from "./page.js";
import "./inbox.js";

const main = document.querySelector("main[data-run]");
const more = document.getElementById("more"), slider = document.querySelector("#slider input[type=range]");
const signs = { pending: "○", running: "►", awaiting: "?", uncertain: "?", completed: "✓", failed: "✗", skipped: "–", blocked: "–", cancelled: "–", retrying: "↻" };
const parts = ["head", "actions", "questions", "calls", "board"];
const run = main.dataset.run;
let last = Number(main.dataset.seq), past = Number(main.dataset.at) < last;
let nodes = new Map(); // of the drawing, by id

function mark(id, status) {
  const node = nodes.get(id);
  if (!node || node.dataset.status === status) return;
  const title = node.querySelector("title");
  title.textContent = title.textContent.replace(` · ${node.dataset.status}`, ` · ${status}`);
  node.dataset.status = status;
  node.querySelector("text:last-of-type").textContent = `${signs[status] ?? "○"} ${status}`;
}

function markAll() {
  const states = JSON.parse(document.getElementById("head").dataset.states);
  for (const id of nodes.keys()) mark(id, states[id] ?? "pending");
}

// drawHere puts the drawing into the page, where single nodes of it can change.
async function drawHere() {
  const picture = document.getElementById("graph");
  if (!picture) return;
  const drawing = document.adoptNode((await load(picture.src)).documentElement);
  drawing.removeAttribute("role"); // what is around it has a name
  nodes = new Map([...drawing.querySelectorAll("g[data-id]")].map(g => [g.dataset.id, g]));
  picture.replaceWith(drawing);
  markAll();
  drawing.addEventListener("click", e => {
    const id = e.target.closest("g[data-id]")?.dataset.id;
    const row = id && [...document.querySelectorAll("tr[data-call]")].find(r => (r.dataset.node ?? r.dataset.call) === id);
    row?.scrollIntoView({ block: "center" });
    row?.querySelector("a")?.focus({ preventScroll: true });
  });
}

// here returns the address of this page at an event; 0 is now.
function here(at) {
  const url = new URL(location.href);
  url.searchParams.delete("at");
  if (at) url.searchParams.set("at", at);
  return url.href;
}

const refresh = throttled(async () => {
  if (past) return;
  const made = await load(here(0));
  if (past) return;
  const whole = swap(made, parts);
  more.hidden = whole;
  const seq = Number(made.querySelector("main").dataset.seq);
  slider.max = seq;
  slider.value = seq;
  document.getElementById("event").textContent = document.getElementById("events").textContent = seq;
  markAll();
}, 250);

function happened(event) {
  if (event.seq <= last) return;
  last = event.seq;
  main.dataset.seq = last;
  if (past) {
    more.hidden = false;
    return;
  }
  refresh();
}

// The slider shows one moment at a time: the newest that was asked for.
let wanted, showing = false;
async function show() {
  if (showing) return;
  showing = true;
  while (wanted !== undefined) {
    const at = wanted;
    wanted = undefined;
    try {
      const now = at >= Number(slider.max);
      const url = here(now ? 0 : at);
      past = !now; // nothing that happens meanwhile belongs into the past
      swap(await load(url), parts);
      history.replaceState(null, "", url);
      document.getElementById("now").hidden = now;
      markAll();
    } catch { // the server is away: the link says so, and the page stays as it is
      past = new URL(location.href).searchParams.has("at");
    }
  }
  showing = false;
}
slider?.addEventListener("input", () => {
  document.getElementById("event").textContent = slider.value;
  wanted = Number(slider.value);
  show();
});

// The times of what runs go on without events.
setInterval(() => {
  if (!past && document.getElementById("head").dataset.status === "running") refresh();
}, 5000);

await drawHere().catch(() => {});
watch({ run, after: last }, happened);
