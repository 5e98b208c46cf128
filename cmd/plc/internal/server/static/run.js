// Updates the page of a run as its events come. Without it the page shows what was so when it was
// loaded.
const main = document.querySelector("main[data-run]");
const lost = document.getElementById("lost");
const words = {
  callStarted: "running", callRetrying: "retrying", callCompleted: "completed", callFailed: "failed",
  callSkipped: "skipped", approvalAsked: "awaiting", approvalAnswered: "pending",
};
let last = main.dataset.seq, drawn;

function redraw() {
  clearTimeout(drawn);
  drawn = setTimeout(() => {
    const graph = document.getElementById("graph");
    if (graph) graph.src = `/v1/runs/${main.dataset.run}/graph?at=${last}`;
  }, 500);
}

function take(message) {
  last = message.lastEventId;
  const event = JSON.parse(message.data);
  const word = words[event.type];
  if (word) {
    for (const row of document.querySelectorAll("tr[data-call]")) {
      if (row.dataset.call === event.call && row.dataset.instance === (event.instance ?? "")) {
        const cell = row.querySelector(".status");
        cell.textContent = word;
        cell.className = "status " + word;
      }
    }
    redraw();
  }
  if (["runPaused", "runFinished", "runResumed", "approvalAsked"].includes(event.type) || word && !known(event)) {
    document.getElementById("more").hidden = false;
  }
}

function known(event) {
  return [...document.querySelectorAll("tr[data-call]")].some(r => r.dataset.call === event.call && r.dataset.instance === (event.instance ?? ""));
}

function connect() {
  const source = new EventSource(`/v1/runs/${main.dataset.run}/events?after=${last}`);
  source.onmessage = take;
  source.onopen = () => { lost.hidden = true; };
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED && main.dataset.ended) return;
    lost.hidden = false;
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 3000); // an error, for which a browser does not ask again
  };
}
if (!main.dataset.ended) connect();
