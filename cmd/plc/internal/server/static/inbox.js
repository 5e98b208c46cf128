// Helps with questions: marks count once a question was shown to its end, and params are checked as
// they are typed. The server checks both again.
import { watch } from "./page.js";

const main = document.querySelector("main");
const seen = new IntersectionObserver(entries => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    target.disabled = false;
    seen.unobserve(target);
  }
});
for (const mark of main.querySelectorAll("input[name=question]")) {
  mark.disabled = true;
  seen.observe(mark);
}

for (const area of main.querySelectorAll("form.decide textarea[name=value]")) {
  const said = area.form.querySelector(".tried");
  let timer, asked = 0;
  area.addEventListener("input", () => {
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

const more = document.getElementById("more");
if (main.dataset.list) watch({ list: main.dataset.list }, ({ digest }) => { more.hidden = digest === main.dataset.digest; });
