"""Code that an answer shows, beside the names of code that the documents have.

A block illustrates: its strings, figures and variables need not stand in the documents. A flag, parameter,
method or key that they don't have is invented where they have others of its kind that the block leaves out.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from groundwire.core.span import Span
from groundwire.text import settings, snippets
from groundwire.text.layout import FENCE
from groundwire.text.overlap import Context, Match
from groundwire.text.remembered import Remembered
from groundwire.text.settings import joined
from groundwire.text.snippets import Documented, Snippet, Use, Used


@dataclass(frozen=True, kw_only=True, slots=True)
class Invented:
    """A name of code that the documents don't have, and those of its kind that they have, one ``where``."""

    words: Span
    name: str
    others: tuple[str, ...]
    where: Match


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A block of code in an answer, without its fences: an invented name, and whether it uses known ones.

    ``told`` says that no comment of it is a sentence, which may be wrong.
    """

    span: Span
    comments: tuple[Span, ...]
    lacking: Invented | None
    familiar: bool
    told: bool

    def holds(self, claim: Span) -> bool:
        """Whether a claim stands in the block."""
        return self.span.start <= claim.start and claim.end <= self.span.end

    def illustrates(self, claim: str) -> bool:
        """Whether a claim in the block is the whole of it, and illustrates the documents' names."""
        return self.familiar and 2 * len(claim) > len(self.span)

    def invented(self, claim: Span) -> Invented | None:
        """The invented name, where a claim has it, as it stands in that."""
        if self.lacking is None or not claim.overlaps(self.lacking.words):
            return None
        return replace(self.lacking, words=_within(claim, self.lacking.words))

    def said(self, claim: Span) -> list[Span]:
        """The comments within a claim, as they stand in it."""
        return [_within(claim, one) for one in self.comments if claim.overlaps(one)]


def _within(claim: Span, words: Span) -> Span:
    """What of some words stands in a claim, as it stands there."""
    return Span(max(words.start, claim.start), min(words.end, claim.end)).shifted(-claim.start)


def blocks(answer: str, question: str, context: Context) -> list[Block]:
    """The fenced blocks of an answer, beside the documents and the question."""
    spans = snippets.find(answer)
    if not spans:
        return []
    documents = [_DOCUMENTED.of(passage.text) for passage in context.passages]
    asked = _DOCUMENTED.of(question)
    names = frozenset().union(*(one.names for one in documents))
    known, written = names | asked.names, names.union(map(joined, asked.code))
    return [
        _block(span, Snippet(span.of(answer)), known, written, context=context, documents=documents)
        for span in spans
    ]


def _block(
    span: Span,
    snippet: Snippet,
    known: AbstractSet[str],
    written: AbstractSet[str],
    *,
    context: Context,
    documents: Sequence[Documented],
) -> Block:
    """A block beside the names that are ``known``, of which those of the question may be no names of code."""
    used = snippet.used()
    lacking = next(_invented(snippet, used, written, context, documents), None)
    ran = [pair for pair in snippet.subcommands if pair[0] not in _TOOLS and joined(pair[0]) in written]
    return Block(
        span=span,
        comments=tuple(one.shifted(span.start) for one in _stating(snippet)),
        lacking=lacking and replace(lacking, words=lacking.words.shifted(span.start)),
        familiar=snippet.does_something
        and all(joined(word) in written for _, word in ran)
        and _is_familiar(snippet, used, known, documents),
        told=not any(_STATES.search(one.of(snippet.text)) for one in snippet.comments),
    )


def _stating(snippet: Snippet) -> Iterator[Span]:
    """The comments, each with its line where it only calls the value there the default or a limit."""
    for comment in snippet.comments:
        start = snippet.text.rfind("\n", 0, comment.start) + 1
        yield Span(start, comment.end) if _CALLED.fullmatch(comment.of(snippet.text)) else comment


def _is_familiar(
    snippet: Snippet, used: Sequence[Used], known: AbstractSet[str], documents: Sequence[Documented]
) -> bool:
    """Whether code uses a name that the documents have as code, and they have half of all that it uses."""
    named = any(name in one.code for one in documents for name in snippet.names)
    if not named and not any(path in snippet.text for one in documents for path in one.paths):
        return False
    others = [one for one in used if one.use is not Use.KEY]
    usual = {one.name for one in others if one.of in _LIBRARIES or one.of in _TOOLS}
    usual |= {one.name for one in others if one.of in usual}
    names = {*snippet.calls, *(one.name for one in others)} - snippet.own - usual - _USUAL
    return 2 * sum(joined(name) in known for name in names) >= len(names)


def leads_in(text: str, following: str) -> bool:
    """Whether a claim only announces the code that follows it: "Use the deploy command:"."""
    short = text.endswith(":") and len(text.split()) <= _ANNOUNCED and not any(map(str.isdigit, text))
    return (
        short and not _STATES.search(_SHOWING.sub("", text)) and FENCE.match(following.lstrip()) is not None
    )


_DOCUMENTED = Remembered(Documented, most=1_000_000)


def _invented(
    snippet: Snippet,
    used: Sequence[Used],
    known: AbstractSet[str],
    context: Context,
    documents: Sequence[Documented],
) -> Iterator[Invented]:
    """The names that the documents don't have, each with those of its kind that they have in its place."""
    mine = {joined(name) for name in snippet.names} | {joined(one.name) for one in used}
    keys = [one for one in used if one.use is Use.KEY]
    odd = [one for one in keys if not _is_known(one, known)]
    for one in used:
        if _is_known(one, known) or one.name in snippet.own:
            continue
        others = [name for name in _others(one, snippet, documents) if joined(name) not in mine]
        if one.use is Use.KEY:
            beside = any(key.name in d.keys for key in keys for d in documents)
            told = settings.is_coded(one.name) and len(odd) == 1 and beside
            others = others if told else []
        if others:
            where = _place(min(others), context)
            yield Invented(words=one.span, name=one.name, others=tuple(sorted(others)), where=where)


def _place(name: str, context: Context) -> Match:
    """The first sentence that has a name."""
    for number, passage in enumerate(context.passages):
        if (at := passage.text.find(name)) >= 0:
            return context.match_at(number, at)
    return Match(0, 0, 0.0)


def _is_known(one: Used, known: AbstractSet[str]) -> bool:
    return joined(one.name) in known


def _others(one: Used, snippet: Snippet, documents: Sequence[Documented]) -> set[str]:
    """What the documents have of the kind of a name, and of what that belongs to."""
    if one.use is Use.FLAG:
        if (
            one.of in _TOOLS
            or one.name in _USUAL_FLAGS
            or not any(joined(one.of) in d.names for d in documents)
        ):
            return set()
        return {flag for d in documents for flag in d.flags}
    if one.use is Use.PARAMETER:
        told = {name for d in documents for name in d.parameters.get(one.of, ())}
        usual = one.of in _LIBRARIES or (
            one.of in _USUAL_METHODS and not _is_theirs(one.of, snippet, documents)
        )
        return set() if told & _OPEN or usual else told - _FREE
    if one.use is Use.METHOD:
        return _methods(one, snippet, documents)
    if one.use is Use.QUERY:
        return {name for d in documents for name in d.written if settings.is_coded(name)}
    return {name for d in documents for name in d.keys}


def _is_theirs(method: str, snippet: Snippet, documents: Sequence[Documented]) -> bool:
    """Whether the documents have a method of each object that code calls it of."""
    owners = snippet.owners.get(method, set())
    return all(any(method in d.methods.get(owner, ()) for d in documents) for owner in owners)


def _methods(one: Used, snippet: Snippet, documents: Sequence[Documented]) -> set[str]:
    """The methods that documents have of an object, or of what a function of theirs returns."""
    if one.name in _USUAL_METHODS or one.of in _LIBRARIES:
        return set()
    told = {name for d in documents for name in d.methods.get(one.of, ())}
    if told:
        return told
    maker = snippet.made_by.get(one.of, "")
    if settings.is_coded(one.name) and any(maker in d.calls for d in documents):
        return {name for d in documents for name in d.calls if name != maker}
    return set()


_ANNOUNCED = 14  # words
# "# the maximum"
_CALLED = re.compile(
    r"(?:#|//|--)\W*(?:this is )?(?:the )?"
    r"(?:default|max(?:imum)?|min(?:imum)?|limit)(?: (?:value|allowed))?\W*",
    re.IGNORECASE,
)
# What only says that something is shown, or supposes a case.
_SHOWING = re.compile(
    r"\b(?:here|this|that|below|following|you|it|command|example|call)"
    r"(?:['’](?:s|ll)| is| are| can| must| may| will| have)\b"
    r"|\b(?:if|when|once)\b[^,:]*|\b(?:is|are):\Z",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"\b(?:is|are|can|cannot|can['’]t|will|has|have|must|may|not|never|always|defaults?)\b|n['’]t\b"
)
# Tools that everybody has: what they can do, documents of others tell in part.
_TOOLS = frozenset(
    """
    apk apt apt-get aws az bash brew bundle bun cargo cat cd chmod choco conda cp curl deno docker
    docker-compose dotnet echo export find gcloud gem git go gradle grep helm java javac journalctl
    jq kubectl ls make mkdir mvn mv node npm npx openssl pip pip3 pipx pnpm poetry podman psql
    python python3 rm rsync ruby scp sed sh ssh sudo systemctl tar terraform tofu uv uvx wget yarn
    yum zip
    """.split()  # noqa: SIM905
)
_USUAL_FLAGS = frozenset(
    ["--help", "--version", "--verbose", "--quiet", "--debug", "--yes", "--output", "--json"]
)
_LIBRARIES = frozenset(
    """
    os sys re json math time datetime logging logger log random string path requests httpx np numpy
    pd pandas df plt torch tf asyncio subprocess shutil pathlib itertools functools collections csv
    yaml console document window process fs self this cls super response resp res request req math
    Math JSON Object Array Promise Date
    """.split()  # noqa: SIM905
)
_USUAL_METHODS = frozenset(
    """
    append extend insert remove pop clear copy count index sort reverse items keys values get update
    setdefault add join split strip lstrip rstrip replace format lower upper startswith endswith
    encode decode read readline readlines write close open flush seek print map filter reduce
    forEach push shift slice concat includes then catch finally head tail describe info to_dict
    to_json to_csv json text raise_for_status isoformat strftime total_seconds exists mkdir is_file
    is_dir read_text write_text toString toJSON length size log warn error debug exit model_dump
    dict
    """.split()  # noqa: SIM905
)
_USUAL = _USUAL_METHODS | _USUAL_FLAGS | frozenset(dir(builtins))
_FREE = frozenset(["self", "cls", "None", "True", "False", "str", "int", "float", "bool"])
_OPEN = frozenset(["kwargs", "options", "opts", "config"])
