"use strict";
// What every page shares: saying aloud what happened.
window.groundwire = {
  say(text) {
    const said = document.getElementById("said");
    said.textContent = "";
    requestAnimationFrame(() => { said.textContent = text; });
  },
  calm: () => matchMedia("(prefers-reduced-motion: reduce)").matches,
  typing: (target) => Boolean(target.closest("input:not([type=radio], [type=checkbox], [type=range]), select, textarea, [contenteditable]")),
};
