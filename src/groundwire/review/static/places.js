"use strict";
// Where words stand in a text, between the page and Python. Python counts characters (code points), a browser
// counts UTF-16 units; and the page shows some characters by a symbol of several. Each piece of a text says
// in data-at which character it begins with; one with data-stands-for is a symbol for so many characters.
(() => {
  const count = (text) => {
    let characters = 0;
    for (const _ of text) characters += 1;
    return characters;
  };
  const units = (text, characters) => {
    let at = 0;
    for (const one of text) {
      if (characters-- <= 0) break;
      at += one.length;
    }
    return at;
  };

  class Places {
    constructor(root) {
      this.root = root;
      this.pieces = [...root.querySelectorAll("[data-at]")].map((element) => {
        const text = element.textContent;
        const symbol = Number(element.dataset.standsFor || 0);
        const at = Number(element.dataset.at);
        return { element, text, symbol, at, end: at + (symbol || count(text)) };
      });
      this.length = this.pieces.length ? this.pieces[this.pieces.length - 1].end : 0;
    }

    // The character at which a place of the page lies: a node and an offset, as a selection has them.
    character(node, offset) {
      const range = document.createRange();
      range.selectNodeContents(this.root);
      const before = range.comparePoint(node, offset);
      if (before < 0) return 0;
      if (before > 0) return this.length;
      for (const piece of this.pieces) {
        range.selectNodeContents(piece.element);
        const side = range.comparePoint(node, offset);
        if (side < 0) return piece.at;
        if (side > 0) continue;
        range.setEnd(node, offset);
        const inside = range.toString();
        if (piece.symbol) return inside ? piece.end : piece.at;
        return piece.at + count(inside);
      }
      return this.length;
    }

    // The page's range of the characters from start to end.
    range(start, end) {
      const range = document.createRange();
      const [first, from] = this.place(start, false);
      const [last, to] = this.place(end, true);
      range.setStart(first, from);
      range.setEnd(last, to);
      return range;
    }

    // A text node and an offset in it; where two pieces touch, the end of the first if ``ending``.
    place(character, ending) {
      const found = this.pieces.find((piece) => (ending ? character <= piece.end : character < piece.end))
        || this.pieces[this.pieces.length - 1];
      const node = found.element.firstChild;
      if (found.symbol) return [node, character > found.at ? node.length : 0];
      return [node, units(found.text, character - found.at)];
    }

    text(start, end) {
      return this.range(start, end).toString();
    }

    // The characters that a selection covers, if any of them are of this text.
    selected(selection) {
      if (!selection.rangeCount || selection.isCollapsed) return null;
      const range = selection.getRangeAt(0);
      if (!range.intersectsNode(this.root)) return null;
      const start = this.character(range.startContainer, range.startOffset);
      const end = this.character(range.endContainer, range.endOffset);
      return start < end ? [start, end] : null;
    }

    // Where each word begins and ends; signs such as € and emoji are words.
    words() {
      const whole = this.pieces.map((piece) => piece.text).join("");
      const found = [];
      const starts = []; // of each UTF-16 unit of ``whole``, its character
      for (const piece of this.pieces) {
        let at = piece.at;
        for (const one of piece.text) {
          for (let unit = 0; unit < one.length; unit += 1) starts.push(at);
          if (!piece.symbol) at += 1;
        }
      }
      starts.push(this.length);
      for (const part of new Intl.Segmenter(document.documentElement.lang, { granularity: "word" }).segment(whole)) {
        if (part.isWordLike || /\p{S}|\p{Extended_Pictographic}/u.test(part.segment)) {
          const start = starts[part.index];
          const end = starts[part.index + part.segment.length];
          if (start < end) found.push([start, end]);
        }
      }
      return found;
    }
  }

  // Spans in order, joined where they touch, without empty ones.
  const union = (spans) => {
    const joined = [];
    for (const [start, end] of [...spans].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
      const last = joined[joined.length - 1];
      if (start >= end) continue;
      if (last && start <= last[1]) last[1] = Math.max(last[1], end);
      else joined.push([start, end]);
    }
    return joined;
  };
  // Spans without the characters of one: what is covered by them already is taken away, all else is added.
  const toggled = (spans, [start, end]) => {
    const covered = spans.some(([from, to]) => from <= start && end <= to);
    if (!covered) return union([...spans, [start, end]]);
    return union(spans.flatMap(([from, to]) => [[from, Math.min(to, start)], [Math.max(from, end), to]]));
  };

  window.groundwire = Object.assign(window.groundwire || {}, { Places, toggled, union });
})();
