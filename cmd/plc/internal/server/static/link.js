// A link holds one stream of events for several listeners, and opens another when it breaks
// or when other runs are listened to. A listener is told {run, seq, …} of what happens in its run,
// {list, digest, read} of its list, and {lost} when the stream breaks or comes back.
export class Link {
  #listeners = new Map();
  #seen = new Map(); // the number of the last event of each run
  #lists = new Map(); // what was told last of each
  #source;
  #timer;
  #delay = 500;
  #lost = false;
  #asked = ""; // the query of the stream

  add(key, wants, tell) {
    this.#listeners.set(key, { wants, tell });
    if (wants.run && !(this.#seen.get(wants.run) <= wants.after)) {
      this.#seen.set(wants.run, wants.after);
      this.#asked = "";
    }
    tell({ lost: this.#lost });
    if (this.#lists.has(wants.list)) tell(this.#lists.get(wants.list));
    this.#soon(20);
  }

  remove(key) {
    this.#listeners.delete(key);
    this.#soon(1000);
  }

  #soon(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), delay);
  }

  #tell(message) {
    for (const { wants, tell } of this.#listeners.values()) {
      if ("lost" in message || message.run && message.run === wants.run || message.list && message.list === wants.list) tell(message);
    }
  }

  #connect() {
    const query = new URLSearchParams(), runs = new Set(), lists = new Set();
    for (const { wants } of this.#listeners.values()) {
      if (wants.run) runs.add(wants.run);
      if (wants.list) lists.add(wants.list);
    }
    for (const run of this.#seen.keys()) if (!runs.has(run)) this.#seen.delete(run);
    const asked = [...runs, "", ...lists].join(" ");
    if (this.#source?.readyState === EventSource.OPEN && this.#asked === asked) return;
    this.#asked = asked;
    for (const run of runs) query.append("run", `${run}:${this.#seen.get(run)}`);
    for (const list of lists) query.append("list", list);
    this.#source?.close();
    this.#source = undefined;
    if (!query.size) return;
    const source = this.#source = new EventSource(`/live?${query}`);
    source.onopen = () => {
      this.#delay = 500;
      if (this.#lost) this.#tell({ lost: this.#lost = false });
    };
    source.onmessage = m => {
      const message = JSON.parse(m.data);
      if (message.run) this.#seen.set(message.run, message.seq);
      if (message.list) this.#lists.set(message.list, message);
      this.#tell(message);
    };
    source.onerror = () => { // the browser would ask again with the old numbers, or never
      source.close();
      if (!this.#lost) this.#tell({ lost: this.#lost = true });
      this.#soon(this.#delay);
      this.#delay = Math.min(this.#delay * 2, 5000);
    };
  }
}
