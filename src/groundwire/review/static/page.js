"use strict";
// What every page shares: saying what happened, to eyes and to ears, and when a key is a command.
(() => {
  const said = document.getElementById("said");
  let fading = 0;
  // On a phone, what is chosen in a row of places may lie outside of what is seen of it.
  for (const chosen of document.querySelectorAll(".queues [aria-current]")) {
    const row = chosen.parentElement;
    row.scrollLeft += chosen.getBoundingClientRect().right - row.getBoundingClientRect().right + 16;
  }
  const single = () => localStorage.getItem("groundwire-single-keys") !== "off";

  window.groundwire = {
    // ``seen`` shows the words for a while, too; they are always read out.
    say(text, { seen = false } = {}) {
      clearTimeout(fading);
      said.textContent = "";
      said.classList.toggle("toast", seen);
      said.classList.toggle("away", !seen);
      requestAnimationFrame(() => { said.textContent = text; });
      if (seen) fading = setTimeout(() => said.classList.replace("toast", "away"), 6000);
    },
    calm: () => matchMedia("(prefers-reduced-motion: reduce)").matches,
    single,
    setSingle: (on) => localStorage.setItem("groundwire-single-keys", on ? "on" : "off"),
    // Whether a key is meant as a command: not while somebody types, holds a modifier, or has a dialog open.
    commands(event) {
      const typing = event.target.closest("input:not([type=radio], [type=checkbox], [type=range]), select, textarea, [contenteditable]");
      return single() && !typing && !event.ctrlKey && !event.metaKey && !event.altKey && !document.querySelector("dialog[open]");
    },
  };
})();
