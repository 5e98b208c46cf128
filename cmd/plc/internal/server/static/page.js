// What the pages share: news of the server, parts that are replaced by newer ones, and times of the
// reader's zone.
import { Link } from "./link.js";

const hub = "/static/hub.js";
const policy = globalThis.trustedTypes?.createPolicy("plc", { createScriptURL: () => hub });
const lost = document.getElementById("lost");

// watch calls told with what happens in a run or a list, by the worker of all tabs where there are
// such workers.
export function watch(wants, told) {
  const tell = message => {
    if ("lost" in message) lost.hidden = !message.lost;
    else told(message);
  };
  if (!globalThis.SharedWorker) {
    new Link().add(0, wants, tell);
    return;
  }
  let port;
  function connect() {
    const worker = new SharedWorker(policy ? policy.createScriptURL("") : hub, { type: "module", name: "plc" });
    worker.onerror = () => { // the server went away before the worker had its script
      tell({ lost: true });
      setTimeout(connect, 1000);
    };
    ({ port } = worker);
    port.onmessage = ({ data }) => tell(data);
    port.postMessage(wants);
  }
  connect();
  addEventListener("pagehide", () => port.postMessage({ bye: true }));
  addEventListener("pageshow", e => { if (e.persisted) location.reload(); });
}

// load fetches a document, with POST if there are fields of a form. Its scripts do not run.
export function load(url, fields) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(fields ? "POST" : "GET", url);
    request.responseType = "document";
    request.onload = () => request.status === 200 && request.response ? resolve(request.response) : reject(new Error(`status ${request.status}`));
    request.onerror = () => reject(new Error("the server is away"));
    request.send(fields);
  });
}

// busy reports whether a person is at work in a part of the page.
function busy(part) {
  const selection = getSelection();
  return part.contains(document.activeElement) && document.activeElement.matches("input, textarea, select, button") ||
    !selection.isCollapsed && part.contains(selection.anchorNode) ||
    [...part.querySelectorAll("textarea, input:not([type=checkbox], [type=hidden], [type=range])")].some(f => f.value !== f.defaultValue);
}

// focusName says by what the element is found again that has the focus.
function focusName(e) {
  if (e.localName === "a") return `a[href="${CSS.escape(e.getAttribute("href"))}"]`;
  if (e.localName === "summary") return `details[data-key="${CSS.escape(e.parentElement.dataset.key ?? "")}"] > summary`;
  return "";
}

// swap replaces parts of the page, by their ids, by those of another document. It leaves out parts in which
// a person is at work, and returns whether there were none.
export function swap(from, ids) {
  let all = true;
  for (const id of ids) {
    const old = document.getElementById(id), made = from.getElementById(id);
    if (!old || !made || old.isEqualNode(made)) continue;
    if (busy(old)) {
      all = false;
      continue;
    }
    const open = new Map([...old.querySelectorAll("details[data-key]")].map(d => [d.dataset.key, d.open]));
    const focus = old.contains(document.activeElement) ? focusName(document.activeElement) : "";
    const scrolled = [...old.querySelectorAll(".wide")].map(e => e.scrollLeft);
    const part = document.adoptNode(made);
    for (const d of part.querySelectorAll("details[data-key]")) d.open = open.get(d.dataset.key) ?? d.open;
    old.replaceWith(part);
    part.querySelectorAll(".wide").forEach((e, i) => { e.scrollLeft = scrolled[i] ?? 0; });
    if (focus) part.querySelector(focus)?.focus({ preventScroll: true });
    localTimes(part);
  }
  return all;
}

// localTimes shows times as they are where the reader is.
export function localTimes(part) {
  for (const t of part.querySelectorAll("time[datetime]")) {
    t.title = t.textContent;
    t.textContent = new Date(t.dateTime).toLocaleString();
  }
}

// throttled returns a function that runs an asynchronous one soon, one at a time, and with pauses
// that are several times as long as it took, up to two seconds.
export function throttled(f, pause) {
  let running = false, again = false, timer;
  async function run() {
    running = true;
    again = false;
    const began = performance.now();
    try { await f(); } catch { /* the server is away: the link says so */ }
    running = false;
    const wait = Math.max(pause, Math.min(2000, 4 * (performance.now() - began)));
    timer = setTimeout(() => { timer = undefined; if (again) run(); }, wait);
  }
  return () => {
    if (running || timer) again = true;
    else run();
  };
}

localTimes(document);
