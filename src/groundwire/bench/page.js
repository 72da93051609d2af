"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const bar = document.getElementById("bar");
bar.hidden = false;
document.querySelector("main").classList.add("scripted");

// One set at a time; without a script all are there, one below the other.
const choose = (chosen) => {
  for (const section of all("section.set")) section.hidden = section.dataset.set !== chosen;
  for (const button of all("button[data-set]", bar)) button.setAttribute("aria-pressed", button.dataset.set === chosen);
};
choose("0");
for (const button of all("button[data-set]", bar)) button.addEventListener("click", () => choose(button.dataset.set));

for (const button of all("button[data-method]", bar)) {
  button.addEventListener("click", () => {
    const shown = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", shown);
    for (const drawn of all(`g[data-method="${button.dataset.method}"]`)) drawn.classList.toggle("off", !shown);
  });
}

const sweeps = JSON.parse(document.getElementById("sweeps").textContent);
const ratio = (above, below) => (below ? (above / below).toFixed(3) : "–");
for (const box of all("[data-sweep]")) {
  const methods = sweeps[box.dataset.sweep];
  const select = box.querySelector("select");
  const slider = box.querySelector("input");
  for (const option of all("option", select)) if (!methods[option.value]) option.remove();
  const draw = () => {
    const at = Number(slider.value);
    const [hit, missed, alarms, passed] = methods[select.value].cuts[at];
    const counts = [hit, missed, alarms, passed];
    for (const cell of all("[data-cell]", box)) cell.textContent = counts[Number(cell.dataset.cell)].toLocaleString("en");
    const rates = {
      precision: ratio(hit, hit + alarms),
      recall: ratio(hit, hit + missed),
      f1: ratio(2 * hit, 2 * hit + missed + alarms),
      flagged: ((100 * (hit + alarms)) / (hit + missed + alarms + passed)).toFixed(0),
    };
    for (const rate of all("[data-rate]", box)) rate.textContent = rates[rate.dataset.rate];
    box.querySelector("output").textContent = (at / 100).toFixed(2);
  };
  const reset = () => {
    slider.value = Math.round(100 * (methods[select.value].threshold ?? 0.5));
    draw();
  };
  select.addEventListener("change", reset);
  slider.addEventListener("input", draw);
  reset();
  box.hidden = false;
}
