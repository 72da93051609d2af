"use strict";
// The dashboard: what a point says, the order of a table, the threshold's slider, and what is fetched later.
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // Pointing at a period says what it is above the chart; its title says the same to others.
  const readout = document.querySelector("[data-readout]");
  for (const period of all(".period")) {
    period.addEventListener("pointerenter", () => { readout.textContent = period.querySelector("title").textContent; });
    period.addEventListener("pointerleave", () => { readout.textContent = "\u00a0"; });
  }

  // A table is put in order here, and its address keeps the order for others.
  for (const table of all("[data-sortable]")) {
    const heads = all("a[data-sort]", table);
    for (const head of heads) {
      head.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        const key = head.dataset.sort;
        const body = table.tBodies[0];
        const turned = head.parentElement.getAttribute("aria-sort") === (key === "name" ? "ascending" : "descending");
        const order = (a, b) => (key === "name" ? a.dataset.name.localeCompare(b.dataset.name, "en", { numeric: true }) : b.dataset[key] - a.dataset[key]);
        body.append(...[...body.rows].sort((a, b) => (turned ? -1 : 1) * order(a, b)));
        for (const other of heads) other.parentElement.setAttribute("aria-sort", "none");
        head.parentElement.setAttribute("aria-sort", (key === "name") === turned ? "descending" : "ascending");
        history.replaceState(null, "", head.href);
        window.groundwire.say(`In order of ${head.textContent}`);
      });
    }
  }

  // Wilson's interval of a share (1927), as the monitor reckons it.
  const Z = 1.959963984540054;
  const rate = (count, of) => {
    if (!of) return null;
    const p = count / of;
    const z2 = Z * Z;
    const middle = (p + z2 / (2 * of)) / (1 + z2 / of);
    const half = (Z / (1 + z2 / of)) * Math.sqrt((p * (1 - p)) / of + z2 / (4 * of * of));
    return { value: p, low: count === 0 ? 0 : Math.max(0, middle - half), high: count === of ? 1 : Math.min(1, middle + half) };
  };
  const f1 = (hit, wrong) => {
    const share = rate(hit, hit + wrong);
    return share && Object.fromEntries(Object.entries(share).map(([name, part]) => [name, (2 * part) / (1 + part)]));
  };
  const percent = (share) => {
    const value = 100 * share;
    if (value > 0 && value < 0.05) return "< 0.1 %";
    if (value >= 99.95 && value < 100) return "> 99.9 %";
    return Number.isInteger(value) ? `${value.toFixed(0)} %` : `${value.toFixed(1)} %`;
  };
  const between = (told) => `${(100 * told.low).toFixed(1)} to ${(100 * told.high).toFixed(1)} %`;
  const count = (n) => n.toLocaleString("en");
  const short = (n) => String(Number(n.toPrecision(3)));

  const boxes = all("[data-reviewed]");
  for (const box of boxes) {
    const data = JSON.parse(box.dataset.reviewed);
    const slider = box.querySelector("input[type=range]");
    const show = () => {
      const at = Number(slider.value);
      const cut = data.cuts[at];
      const cells = { hit: 0, missed: 0, false: 0, passed: 0 };
      data.scores.forEach((score, i) => { cells[score >= cut ? (data.real[i] ? "hit" : "false") : data.real[i] ? "missed" : "passed"] += 1; });
      const { hit, missed, false: wrong } = cells;
      const told = {
        precision: cut >= data.from ? rate(hit, hit + wrong) : null,
        recall: data.fair ? rate(hit, hit + missed) : null,
        f1: data.fair ? f1(hit, wrong + missed) : null,
        flagged: rate(data.flagged[at], data.judged),
      };
      for (const cell of all("[data-cell]", box)) cell.textContent = count(cells[cell.dataset.cell]);
      for (const [name, one] of Object.entries(told)) {
        box.querySelector(`[data-rate=${name}]`).textContent = one ? percent(one.value) : "not known";
        const interval = name === "flagged" ? `${count(data.flagged[at])} of ${count(data.judged)} judged` : one && between(one);
        box.querySelector(`[data-interval=${name}]`).textContent = one ? interval : "";
      }
      for (const line of all(".cut.moved", box)) line.setAttribute("transform", `translate(${Number(line.dataset.x0) + cut * Number(line.dataset.width)} 0)`);
      box.querySelector("output").textContent = short(cut);
      const say = (name, one) => `${name} ${one ? percent(one.value) : "not known"}`;
      slider.setAttribute("aria-valuetext", `${short(cut)}: ${say("precision", told.precision)}, ${say("recall", told.recall)}, ${say("flagged", told.flagged)}`);
    };
    slider.addEventListener("input", show);
    for (const button of all("button[data-to]", box)) {
      button.hidden = data[button.dataset.to] === null;
      button.addEventListener("click", () => { slider.value = data[button.dataset.to]; show(); window.groundwire.say(`Threshold ${slider.getAttribute("aria-valuetext")}`); });
    }
    slider.value = data.used;
    show();
    box.querySelector(".slide").hidden = false;
  }
  const chooser = document.querySelector("[data-detector]");
  if (chooser) {
    const choose = () => boxes.forEach((box, i) => { box.hidden = String(i) !== chooser.value; });
    chooser.addEventListener("change", choose);
    choose();
  }

  // Patterns take a while to find, and the figures need not wait for them.
  const patterns = document.querySelector("[data-patterns]");
  if (patterns) {
    const link = [...patterns.childNodes];
    const waiting = document.createElement("p");
    waiting.className = "soft waiting";
    waiting.setAttribute("role", "status");
    waiting.textContent = "Looking at the reviewed answers";
    patterns.replaceChildren(waiting);
    fetch(patterns.dataset.patterns)
      .then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(answer.status))))
      .then((text) => new DOMParser().parseFromString(text, "text/html").body.childNodes)
      .then((found) => patterns.replaceChildren(...found), () => patterns.replaceChildren(...link));
  }
})();
