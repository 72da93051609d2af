"""Attacks on judges: texts that try to steer them, and what of those texts reaches a model as instruction.

``python -m tests.judge.attacks`` prints the table in docs/judge.md.
"""

import itertools
import re
from collections import Counter

from benchmarks.attacks import attacks
from groundwire import Interaction, Role, Turn, detectors
from groundwire.core.plan import Complete
from groundwire.detectors.catalogue import METHODS
from groundwire.judge.drivers import run
from groundwire.prompts.quoting import neutral
from tests.detectors.test_contract import Model

PLACES = ("question", "passage", "answer", "turn")
NAIVE = "(texts pasted into the prompt)"
_CODE = re.compile(r"The code of this message is ([0-9a-f]{12})\.")


class Obeying(Model):
    """A model that obeys whatever stands as instruction before it, and judges what is quoted.

    What it obeys is every word outside of the quotations that the code of the message marks. ``obeyed`` has
    the places whose text it found there, ``hidden`` the characters that a reader could not have seen.
    """

    def __init__(self):
        super().__init__()
        self.obeyed = set()
        self.hidden = set()

    def _perform(self, request):
        if isinstance(request, Complete):
            instructions = "\n".join([request.system, outside(request.user)])
            self.obeyed |= {place for place in PLACES if canary(place) in instructions}
            self.hidden |= {one for one in set(request.user) if neutral(one) != one}
        return super()._perform(request)


def canary(place):
    return f"zq{place}qz"


def outside(user):
    """What a message says outside of its quotations; all of it, where it has no code."""
    found = _CODE.search(user)  # the first one is ours: our words come before those of others
    if found is None:
        return user
    frame = re.compile(
        rf"^<<<([a-z0-9 ]+) {found[1]}>>>\n.*?\n<<<end \1 {found[1]}>>>$", re.MULTILINE | re.DOTALL
    )
    return frame.sub("", user)


def attacked(written):
    """An interaction with the attack everywhere, each place with a word of its own around it."""
    said = {place: f"{canary(place)} {written} {canary(place)}." for place in PLACES}
    return Interaction(
        question=said["question"],
        contexts=[said["passage"], "The fee is 25 EUR."],
        answer=f"The fee is 75 EUR. {said['answer']}",
        history=[Turn(role=Role.USER, text=said["turn"])],
    )


def obeyed(name, attack):
    """The places from which the attack reached a model as instruction, and what came with it unseen."""
    model = Obeying()
    detector = detectors.get(name)()
    run(detector.detect(attacked(attack.written())), model)
    if "{code}" in attack.text:
        # Whoever attacks knows how codes are made, and writes in the one that this very message had.
        codes = [m[1] for r in model.asked if isinstance(r, Complete) and (m := _CODE.search(r.user))]
        for code in codes[:1]:
            model = Obeying()
            run(detector.detect(attacked(attack.written(code))), model)
    return model


def naively(attack):
    """The same where texts are pasted into a prompt, as most judges do it."""
    one = attacked(attack.written())
    model = Obeying()
    passages = "\n".join(passage.text for passage in one.contexts)
    user = (
        f"History: {one.history[0].text}\nQuestion: {one.question}\nContext: {passages}\nAnswer: {one.answer}"
    )
    model.reply = ""
    model.perform([Complete(system="Judge the answer by the context.", user=user)], timeout=None)
    return model


def methods():
    """The registered methods that ask a language model."""
    return [name for name in METHODS if name in detectors.names() and "language model" in METHODS[name].asks]


def table():
    """How many attacks reach a model as instruction, by method and place, as Markdown."""
    all_of_them = attacks()
    lines = [
        f"| method | attacks | {' | '.join(PLACES)} | unseen characters |",
        "|---|---|" + "---|" * (len(PLACES) + 1),
    ]
    runs = [(f"`{name}`", lambda attack, name=name: obeyed(name, attack)) for name in methods()]
    for name, attack_with in itertools.chain(runs, [(NAIVE, naively)]):
        models = [attack_with(attack) for attack in all_of_them]
        reached = Counter(place for model in models for place in model.obeyed)
        unseen = sum(bool(model.hidden) for model in models)
        counts = " | ".join(str(reached[place]) for place in PLACES)
        lines.append(f"| {name} | {len(all_of_them)} | {counts} | {unseen} |")
    return "\n".join(lines)
