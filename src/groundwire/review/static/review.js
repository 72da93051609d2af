"use strict";
// The page of one answer: its claims and their evidence, the reviewer's own marks, and the keyboard.
(() => {
  const { say, calm, commands, single, setSingle, Places, toggled, union } = window.groundwire;
  const byId = (id) => document.getElementById(id);
  const form = byId("review");
  const answer = byId("answer");
  const press = (id) => { const target = byId(id); if (target) target.click(); return Boolean(target); };

  // -- claims and their evidence ----------------------------------------------------------------------
  const buttons = [...document.querySelectorAll(".claims button")];
  const choose = (number) => {
    const old = buttons.find((button) => button.getAttribute("aria-pressed") === "true");
    const again = old && old.dataset.c === number;
    for (const part of document.querySelectorAll(".on")) part.classList.remove("on");
    if (old) old.setAttribute("aria-pressed", "false");
    document.body.classList.toggle("chosen", !again);
    if (again) return;
    for (const part of document.querySelectorAll(`[data-c~="${number}"]`)) part.classList.add("on");
    const button = buttons.find((one) => one.dataset.c === number);
    if (button) {
      const folded = button.closest("details");
      if (folded) folded.open = true;
      button.setAttribute("aria-pressed", "true");
    }
    const quotes = [...document.querySelectorAll(`.evidence [data-c~="${number}"]`)];
    for (const quote of quotes) quote.closest("details").open = true;
    say(quotes.length ? `Evidence: ${quotes.map((quote) => quote.textContent).join(" ")}` : "No passage bears on this claim", { seen: !quotes.length });
    const behavior = calm() ? "auto" : "smooth";
    if (quotes.length) quotes[0].scrollIntoView({ block: "center", behavior });
    else if (button) button.scrollIntoView({ block: "nearest", behavior });
  };
  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.c));
  const step = (by) => {
    if (!buttons.length) { say("There are no claims", { seen: true }); return; }
    const at = buttons.findIndex((button) => button.getAttribute("aria-pressed") === "true");
    const next = at < 0 ? (by > 0 ? 0 : buttons.length - 1) : (at + by + buttons.length) % buttons.length;
    if (next !== at) choose(buttons[next].dataset.c);
  };

  // -- the reviewer's own marks -----------------------------------------------------------------------
  let marking = null;
  if (form && answer) {
    const places = new Places(answer);
    const field = byId("spans");
    const list = byId("marks");
    const toggle = byId("mark");
    const paint = "Highlight" in window ? new Highlight() : null;
    const cursor = "Highlight" in window ? new Highlight() : null;
    if (paint) { CSS.highlights.set("own", paint); CSS.highlights.set("cursor", cursor); }
    const parsed = (text) => union((text.match(/\d+:\d+/g) || []).map((one) => one.split(":").map(Number)));
    let own = field.dataset.own === "none" ? null : parsed(field.dataset.own);
    let words = null;
    let anchor = 0; // the word that a choice of several began with, and the one where it ends now
    let far = 0;
    let chosen = null;
    let active = false;

    const input = (name, value) => Object.assign(document.createElement("input"), { type: "hidden", name, value });
    const draw = () => {
      byId("own").hidden = own === null;
      document.body.classList.toggle("corrected", own !== null);
      field.replaceChildren();
      list.replaceChildren();
      if (paint) paint.clear();
      if (own === null) return;
      field.append(input("corrected", "1"));
      own.forEach(([start, end]) => {
        field.append(input("span", `${start}:${end}`));
        if (paint) paint.add(places.range(start, end));
        const words = places.text(start, end);
        const item = document.createElement("li");
        const quote = Object.assign(document.createElement("q"), { textContent: words, dir: "auto" });
        const remove = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "×" });
        remove.setAttribute("aria-label", `Unmark ${words}`);
        remove.addEventListener("click", () => { change([start, end]); (list.querySelector("button") || toggle).focus(); });
        item.append(quote, remove);
        list.append(item);
      });
      if (!own.length) list.append(Object.assign(document.createElement("li"), { className: "soft", textContent: "None: every word is supported." }));
    };
    const change = (span) => {
      const before = own || [];
      own = toggled(before, span);
      const more = own.reduce((sum, [s, e]) => sum + e - s, 0) > before.reduce((sum, [s, e]) => sum + e - s, 0);
      say(`${more ? "Marked" : "Unmarked"}: ${places.text(...span)}`);
      draw();
    };
    const show = () => {
      if (!cursor) return;
      cursor.clear();
      if (active && chosen) cursor.add(places.range(...chosen));
    };
    const point = (span) => {
      chosen = span;
      show();
      const range = places.range(...span);
      if (!cursor) { const selection = getSelection(); selection.removeAllRanges(); selection.addRange(range); }
      const box = range.getBoundingClientRect();
      const hidden = box.top < 90 || box.bottom > innerHeight - 160;
      if (hidden) window.scrollBy({ top: box.top - innerHeight / 2, behavior: calm() ? "auto" : "smooth" });
      say(places.text(...span));
    };
    const set = (on) => {
      active = on;
      toggle.setAttribute("aria-pressed", String(on));
      byId("marking").hidden = !on;
      document.body.classList.toggle("marks", on);
      if (on) {
        words = words || places.words();
        if (own === null) own = parsed(field.dataset.detected);
        answer.tabIndex = 0;
        answer.focus({ preventScroll: true });
        draw();
        anchor = far = own.length && words.length ? at(own[0][0]) : 0;
        if (words.length) point(words[anchor]);
        say("Marking. Arrow keys choose words, Shift and arrows choose more, Enter marks or unmarks, Escape ends.");
      } else {
        answer.blur();
        answer.removeAttribute("tabindex");
        chosen = null;
        show();
        say("Marking ended");
      }
    };

    // Arrow keys: by word, with Ctrl by letter; with Shift what is chosen grows or shrinks at its far end.
    const at = (character) => {
      const found = words.findIndex(([, end]) => end > character);
      return found < 0 ? words.length - 1 : found;
    };
    const within = (index) => Math.min(words.length - 1, Math.max(0, index));
    const byWord = (direction, extend) => {
      if (!words.length) return;
      if (extend) {
        far = within(far + direction);
        point([Math.min(words[anchor][0], words[far][0]), Math.max(words[anchor][1], words[far][1])]);
      } else {
        anchor = far = within(far + direction);
        point(words[anchor]);
      }
    };
    const byLetter = (direction, extend) => {
      const [start, end] = chosen;
      const from = extend ? start : Math.max(0, Math.min(places.length - 1, direction > 0 ? end : start - 1));
      point([from, extend ? Math.min(places.length, Math.max(start + 1, end + direction)) : from + 1]);
      anchor = far = at(from);
    };
    answer.addEventListener("keydown", (event) => {
      if (!active || event.metaKey) return;
      const direction = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (direction && chosen) {
        (event.ctrlKey || event.altKey ? byLetter : byWord)(direction, event.shiftKey);
      } else if ((event.key === "Enter" || event.key === " ") && chosen) {
        change(chosen);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
    const pointed = (event) => {
      const place = document.caretPositionFromPoint ? document.caretPositionFromPoint(event.clientX, event.clientY) : null;
      const range = place ? null : document.caretRangeFromPoint(event.clientX, event.clientY);
      if (!place && !range) return null;
      const character = places.character(place ? place.offsetNode : range.startContainer, place ? place.offset : range.startOffset);
      return words.find(([start, end]) => start <= character && character <= end) || null;
    };
    // A mouse selects, and a finger or a mouse points at one word.
    answer.addEventListener("click", (event) => {
      if (active) {
        const span = places.selected(getSelection()) || pointed(event);
        getSelection().removeAllRanges();
        if (!span) return;
        anchor = far = at(span[0]);
        chosen = span;
        show();
        change(span);
        answer.focus({ preventScroll: true });
        return;
      }
      const part = event.target.closest("[data-c]");
      if (part && getSelection().isCollapsed) choose(part.dataset.c.split(" ").pop());
    });
    toggle.hidden = false;
    toggle.addEventListener("click", () => set(!active));
    byId("unmark").addEventListener("click", () => { own = null; draw(); set(false); toggle.focus(); });
    draw();
    marking = { toggle: () => set(!active), end: () => set(false), get active() { return active; } };
  }

  // -- the form ---------------------------------------------------------------------------------------
  const save = () => {
    if (!form.querySelector("[name=opinion]:checked")) {
      say("Choose first: a agrees, d disagrees, u is unsure", { seen: true });
      form.querySelector("[name=opinion]").focus();
      return;
    }
    form.requestSubmit();
  };
  if (form) {
    // Nothing tells that a form which was sent got no answer, or that somebody has stopped waiting for one.
    const ready = () => { byId("save").disabled = false; };
    form.addEventListener("submit", () => { byId("save").disabled = true; setTimeout(ready, 5000); });
    addEventListener("pageshow", ready);
    const note = byId("note");
    const grow = () => { note.style.height = "auto"; note.style.height = `${Math.min(note.scrollHeight + 2, 160)}px`; };
    note.addEventListener("input", grow);
    note.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); save(); }
      if (event.key === "Escape") note.blur();
    });
    if (note.value) grow();
  }
  const opine = (value) => {
    const choice = form && form.querySelector(`[name=opinion][value=${value}]`);
    if (!choice) return;
    choice.checked = true;
    choice.focus({ preventScroll: true }); // so that Enter saves, whatever had the focus
    const label = choice.closest("label");
    const out = label.getBoundingClientRect().top > innerHeight; // of a low window, where the form stands below
    say(`${label.querySelector(".name").firstChild.textContent.trim()}: ${label.querySelector(".told").textContent}. Enter saves.`, { seen: out });
  };

  // -- the keyboard -----------------------------------------------------------------------------------
  const keys = byId("keys");
  if (keys) {
    const box = byId("single");
    box.checked = single();
    box.addEventListener("change", () => setSingle(box.checked));
    byId("help").hidden = false;
    byId("help").addEventListener("click", () => keys.showModal());
  }
  const acts = {
    a: () => opine("agree"),
    d: () => opine("disagree"),
    u: () => opine("unsure"),
    j: () => press("next"),
    k: () => press("back") || say("This is the first", { seen: true }),
    z: () => press("undo") || say("There is nothing to undo", { seen: true }),
    c: () => step(1),
    C: () => step(-1),
    e: () => marking && marking.toggle(),
    n: () => { if (form) byId("note").focus(); },
    t: () => { if (form) byId("kind").focus(); },
    "?": () => keys && keys.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented) return;
    if (event.key === "Escape" && marking && marking.active && !document.querySelector("dialog[open]")) { marking.end(); return; }
    if (!commands(event)) return;
    if (event.key === "Enter" && form && !event.target.closest("button, a, summary, [contenteditable]")) {
      event.preventDefault();
      save();
    } else if (Object.hasOwn(acts, event.key)) {
      event.preventDefault();
      acts[event.key]();
    }
  });

  const flash = document.querySelector("#flash p");
  if (flash) setTimeout(() => say(flash.textContent.trim().replace(/\s+/g, " ")), 300);
})();
