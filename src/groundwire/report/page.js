"use strict";
(() => {
  const list = document.getElementById("answers");
  const bar = document.getElementById("bar");
  if (!bar) return;
  bar.hidden = false;

  const cards = [...list.querySelectorAll(":scope > .card")];
  const chips = [...bar.querySelectorAll(".chip")];
  const search = document.getElementById("search");
  const sort = document.getElementById("sort");
  const fold = document.getElementById("fold");
  const count = document.getElementById("count");
  const nothing = document.getElementById("nothing");
  const said = document.getElementById("said");
  const texts = new Map();
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let level = "";

  const textOf = (card) => {
    if (!texts.has(card)) texts.set(card, card.textContent.toLowerCase());
    return texts.get(card);
  };
  const shown = () => cards.filter((card) => !card.hidden);
  const foldOf = (card) => card.querySelector("details");

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const card of cards) {
      card.hidden = (level && card.dataset.level !== level) || !words.every((word) => textOf(card).includes(word));
    }
    const left = shown().length;
    count.textContent = left === cards.length ? "" : `${left.toLocaleString("en")} of ${cards.length.toLocaleString("en")}`;
    nothing.hidden = left > 0;
    nameFold();
  };
  const nameFold = () => {
    const all = shown();
    fold.textContent = all.length && all.every((card) => foldOf(card).open) ? "Fold all" : "Unfold all";
  };

  for (const chip of chips) {
    chip.addEventListener("click", () => {
      level = chip.dataset.level;
      for (const other of chips) other.setAttribute("aria-pressed", String(other === chip));
      filter();
    });
  }
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search && search.value) {
      search.value = "";
      filter();
    }
  });
  sort.addEventListener("change", () => {
    // Answers without a score come last, whichever way scores are sorted.
    const score = (card, none) => (card.dataset.score === "" ? none : Number(card.dataset.score));
    const by = {
      worst: (a, b) => score(b, -1) - score(a, -1),
      best: (a, b) => score(a, 101) - score(b, 101),
      order: () => 0,
    }[sort.value];
    cards.sort((a, b) => by(a, b) || a.dataset.order - b.dataset.order);
    list.append(...cards);
  });
  fold.addEventListener("click", () => {
    const all = shown();
    const open = !all.every((card) => foldOf(card).open);
    for (const card of all) foldOf(card).open = open;
    nameFold();
  });
  list.addEventListener("toggle", nameFold, true);

  const select = (card, numbers, from) => {
    const pressed = card.querySelector(".claims button[aria-pressed=true]");
    const again = pressed && numbers.includes(pressed.dataset.c);
    for (const old of card.querySelectorAll(".on")) old.classList.remove("on");
    if (pressed) pressed.setAttribute("aria-pressed", "false");
    card.classList.toggle("chosen", !again);
    if (again) return;
    const number = numbers[numbers.length - 1];
    for (const part of card.querySelectorAll(`[data-c~="${number}"]`)) part.classList.add("on");
    const button = card.querySelector(`.claims [data-c="${number}"]`);
    if (button) {
      button.setAttribute("aria-pressed", "true");
      button.closest("details").open = true;
    }
    const quotes = [...card.querySelectorAll(`.evidence [data-c~="${number}"]`)];
    for (const quote of quotes) quote.closest("details").open = true;
    said.textContent = quotes.length ? `Evidence: ${quotes[0].textContent}` : "No passage bears on this claim";
    const target = quotes[0] || (from === "answer" ? button : null);
    if (target) target.scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
  };
  list.addEventListener("click", (event) => {
    const part = event.target.closest("[data-c]");
    if (!part || part.closest(".evidence")) return;
    const inAnswer = part.closest(".answer");
    if (inAnswer && !getSelection().isCollapsed) return;
    select(part.closest(".card"), part.dataset.c.split(" "), inAnswer ? "answer" : "claims");
  });

  const follow = () => {
    const target = /^#a\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
    if (target) foldOf(target).open = true;
  };
  addEventListener("hashchange", follow);
  follow();
  nameFold();
})();
