// Helps with questions: marks count once a question was shown to its end, and params are checked as
// they are typed. The server checks both again.
import { load, localTimes, throttled, watch } from "./page.js";

const main = document.querySelector("main");
// A question was shown when its beginning and its end were on the screen for a moment each.
const waits = new Map();
const seen = new IntersectionObserver(entries => {
  for (const { isIntersecting, target } of entries) {
    clearTimeout(waits.get(target));
    if (!isIntersecting) continue;
    waits.set(target, setTimeout(() => {
      target.dataset.seen = "yes";
      seen.unobserve(target);
      const question = target.closest("article");
      if (!question.querySelector(".seen:not([data-seen])")) question.querySelector("input[name=question]").disabled = false;
    }, 300));
  }
});

// begin sets up the questions on the page.
function begin() {
  for (const mark of main.querySelectorAll("input[name=question]")) {
    mark.disabled = true;
    for (const part of [mark.closest("article").querySelector("h2"), mark]) {
      part.classList.add("seen");
      seen.observe(part);
    }
  }

  for (const area of main.querySelectorAll("form.decide textarea[name=value]")) {
    const said = area.form.querySelector(".tried"), plain = area.form.querySelector(".actions button[value=approve]"), label = plain.textContent;
    let timer, asked = 0;
    area.addEventListener("input", () => {
      plain.textContent = area.value === area.defaultValue && !area.dataset.changed ? label : `${label} without this change`;
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const mine = ++asked;
        const ask = async (decision, name) => {
          const fields = new URLSearchParams(new FormData(area.form));
          fields.set("decision", decision);
          const answer = await (await fetch(area.form.getAttribute("action").replace(/decide$/, "try"), { method: "POST", body: fields })).json();
          const span = document.createElement("span");
          span.textContent = answer.ok ? `As ${name}, this fits${answer.message ? `, but ${answer.message}` : ""}. ` : `As ${name}, it can't be given: ${answer.message}. `;
          span.classList.toggle("error", !answer.ok);
          return span;
        };
        try {
          const both = await Promise.all([ask("edit", "params"), ask("answer", "the result")]);
          if (mine === asked) said.replaceChildren(...both);
        } catch { said.textContent = ""; }
      }, 200);
    });
  }
}

// renew reloads an inbox that was empty. It keeps the confirmation of the last answer.
const renew = throttled(async () => {
  const now = (await load(location.href)).querySelector("main");
  const said = main.querySelector("ul[role=status]");
  Object.assign(main.dataset, now.dataset);
  main.replaceChildren(...document.adoptNode(now).childNodes);
  if (said) main.querySelector("h1").nextElementSibling.after(said);
  localTimes(main);
  begin();
}, 200);

begin();
if (main.dataset.list) watch({ list: main.dataset.list }, ({ digest, read }) => {
  if (read < Number(main.dataset.read)) return; // the page is newer
  const more = document.getElementById("more"), changed = digest !== main.dataset.digest;
  if (changed && !main.querySelector("article")) renew();
  else more.hidden = !changed;
});
