"use strict";
// The table: how many answers there are, and the keyboard.
(() => {
  const { commands } = window.groundwire;
  const count = document.getElementById("count");
  fetch(count.dataset.from).then((reply) => (reply.ok ? reply.text() : "")).then((text) => {
    count.textContent = text === "1" ? "1 answer" : text && `${text} answers`;
  }).catch(() => { count.textContent = ""; });

  // What may be typed into the fields for tags and detectors, once somebody is about to.
  const offer = (id, values) => {
    document.getElementById(id).replaceChildren(...values.map((value) => Object.assign(document.createElement("option"), { value })));
  };
  document.getElementById("filters").addEventListener("focusin", () => {
    fetch("/answers/names").then((reply) => reply.json()).then(({ detectors, tags }) => {
      offer("tag-names", tags.map((name) => `${name}=`));
      offer("detector-names", detectors);
    }).catch(() => {});
  }, { once: true });

  const rows = [...document.querySelectorAll("td.asked a")];
  const step = (by) => {
    const at = rows.indexOf(document.activeElement);
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    if (next) next.focus();
  };
  const acts = {
    j: () => step(1),
    k: () => step(-1),
    "/": () => document.getElementById("search").select(),
    ArrowRight: () => { const next = document.getElementById("next"); if (next) next.click(); },
  };
  document.addEventListener("keydown", (event) => {
    if (!commands(event) || !Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    acts[event.key]();
  });
  // A form sends empty fields, too; an address is shorter without them.
  document.getElementById("filters").addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
  });
})();
