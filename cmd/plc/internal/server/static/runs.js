// Keeps the list of runs as it is on the server.
import { load, swap, throttled, watch } from "./page.js";

const main = document.querySelector("main");
const refresh = throttled(async () => {
  const made = await load(location.href);
  swap(made, ["runs"]);
  main.dataset.digest = made.querySelector("main").dataset.digest;
}, 1000);
if (main.dataset.list) watch({ list: main.dataset.list }, ({ digest }) => { if (digest !== main.dataset.digest) refresh(); });
