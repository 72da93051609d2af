"""How the rows of public datasets are laid out, and what each makes an example of.

What a label says stands in ``layouts``, with how to get each set. A field that is missing is a KeyError,
which is told there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from groundwire.bench.examples import Example
from groundwire.core.interaction import Interaction
from groundwire.core.span import Span
from groundwire.tables import TableError
from groundwire.tables.labels import label_of
from groundwire.tables.records import records

Cells = Mapping[str, Any]
Located = tuple[str, Cells]
"""A row, and where it stands, for messages."""


def rows(path: Path) -> Iterator[Located]:
    """Each row of a table; one that can't be read is an error."""
    with path.open("rb") as stream:
        for record in records(stream, name=path.name):
            if record.cells is None:
                raise TableError(f"{path}: {record.place}: {record.problem}")
            yield record.place, record.cells


def _files(path: Path, pattern: str) -> list[Path]:
    """The file itself, or those of a folder, in the order of the numbers in their names."""
    if not path.is_dir():
        return [path]
    found = sorted(path.glob(pattern), key=lambda file: [int(n) for n in re.findall(r"\d+", file.name)])
    if not found:
        raise FileNotFoundError(f"no file {pattern} in this folder")
    return found


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise TableError(f"{path} is no JSON: {error}") from error


def _example(
    name: str, answer: Any, contexts: Any, label: bool | None, question: Any = None, **beside: Any
) -> Example:
    given = Interaction(answer=answer, contexts=contexts, question=question, id=name)
    return Example(id=name, interaction=given, label=label, **beside)


def _reference(name: str, answer: Any, contexts: Any, question: Any, group: str) -> Iterator[Example]:
    """The reference answer to a question, which is grounded."""
    yield _example(name, answer, contexts, False, question, group=group, task="qa", model="reference")


def find_ragtruth(path: Path) -> Iterator[Located]:
    """Each response with its source beside it."""
    folder = path.parent if path.is_file() else path / "dataset" if (path / "dataset").is_dir() else path
    sources = {cells["source_id"]: cells for _, cells in rows(folder / "source_info.jsonl")}
    for place, cells in rows(folder / "response.jsonl"):
        source = sources.get(cells.get("source_id"))
        if source is None:
            raise TableError(f"{folder}: {place}: source_info.jsonl has no source {cells.get('source_id')!r}")
        yield place, {**cells, "source": source}


def read_ragtruth(_: str, cells: Cells) -> Iterator[Example]:
    """Words that people marked make the label; passages are told apart, and records are JSON."""
    source = cells["source"]
    told = source["source_info"]
    question: str | None = None
    contexts: str | list[str]
    if isinstance(told, str):
        contexts = told
    elif source["task_type"] == "QA":
        question = told["question"]
        contexts = [part.strip() for part in re.split(r"\n\n(?=passage \d+:)", told["passages"].strip())]
    else:
        contexts = json.dumps(told, indent=1, ensure_ascii=False)
    spans = tuple(Span(mark["start"], mark["end"]) for mark in cells["labels"])
    yield _example(
        *(f"ragtruth-{cells['id']}", cells["response"], contexts, bool(spans), question),
        spans=spans,
        group=str(cells["source_id"]),
        task=source["task_type"].lower(),
        model=cells["model"],
    )


_HALUEVAL = {
    "qa": ("question", "knowledge", "right_answer", "hallucinated_answer"),
    "dialogue": ("dialogue_history", "knowledge", "right_response", "hallucinated_response"),
    "summary": (None, "document", "right_summary", "hallucinated_summary"),
}


def read_halueval(place: str, cells: Cells) -> Iterator[Example]:
    """A right and a wrong answer, or one with people's word."""
    number = place.rpartition(" ")[2]
    if "chatgpt_response" in cells:
        told = cells["hallucination"] if "hallucination" in cells else cells["hallucination_label"]
        name = f"halueval-general-{number}"
        yield _example(
            *(name, cells["chatgpt_response"], None, label_of(told), cells["user_query"]), task="general"
        )
        return
    for task, (question, context, right, wrong) in _HALUEVAL.items():
        if right not in cells:
            continue
        asked = cells[question] if question else None
        for label, kind in ((False, right), (True, wrong)):
            name = f"halueval-{task}-{number}-{kind.partition('_')[0]}"
            yield _example(name, cells[kind], cells[context], label, asked, task=task)
        return
    raise KeyError("right_answer")


def read_halubench(_: str, cells: Cells) -> Iterator[Example]:
    """PASS or FAIL."""
    label = {"PASS": False, "FAIL": True}[cells["label"]]
    yield _example(
        *(str(cells["id"]), cells["answer"], cells["passage"], label, cells["question"]),
        task=cells["source_ds"],
    )


def find_faithbench(path: Path) -> Iterator[Located]:
    """The samples of every batch, in the order of their numbers."""
    folder = path / "data_for_release" if (path / "data_for_release").is_dir() else path
    for file in _files(folder, "batch_*.json"):
        batch = _json(file)
        samples = batch["samples"] if isinstance(batch, Mapping) else batch
        for sample in samples:
            yield f"{file.stem}-{sample['sample_id']}", sample


def read_faithbench(place: str, cells: Cells) -> Iterator[Example]:
    """The worst label of a sample, and the words it stands for."""
    # The authors' own reading (scripts/binarize.py): the worst label counts, and a benign one is none.
    bad = [
        mark
        for mark in cells["annotations"]
        if any(label.startswith(("Unwanted", "Questionable")) for label in mark["label"])
    ]
    marked = [(mark.get("summary_start"), mark.get("summary_end")) for mark in bad]
    known = all(isinstance(start, int) and isinstance(end, int) for start, end in marked)
    model = cells.get("metadata", {}).get("summarizer") or cells.get("meta_model") or ""
    yield _example(
        *(f"faithbench-{place}", cells["summary"], cells["source"], bool(bad)),
        spans=tuple(Span(start, end) for start, end in marked) if known else None,
        task="summary",
        model=model,
    )


def find_ragbench(path: Path) -> Iterator[Located]:
    """The rows of one Parquet file, or of all in a folder."""
    for file in _files(path, "*.parquet"):
        for place, cells in rows(file):
            yield f"{file.name} {place}", cells


def read_ragbench(_: str, cells: Cells) -> Iterator[Example]:
    """Whether GPT-4 found that it adheres, and the sentences that don't."""
    adheres = cells["adherence_score"]
    subset = str(cells["dataset_name"])
    yield _example(
        *(f"{subset}-{cells['id']}", cells["response"], list(cells["documents"])),
        *(None if adheres is None else not adheres, cells["question"]),
        spans=_unsupported_sentences(cells),
        task=subset,
        model=cells.get("generation_model_name") or "",
    )


def _unsupported_sentences(cells: Cells) -> tuple[Span, ...] | None:
    """Where the unsupported sentences stand; None where one of them is not to be found in the response."""
    response: str = cells["response"]
    told = {_key(key): text for key, text in cells.get("response_sentences") or ()}
    found, at = {}, 0
    for key, text in told.items():
        start = response.find(text.strip(), at)
        if start >= 0:
            found[key] = Span(start, start + len(text.strip()))
            at = start
    wanted = [_key(key) for key in cells.get("unsupported_response_sentence_keys") or ()]
    return tuple(found[key] for key in wanted) if all(key in found for key in wanted) else None


def _key(key: str) -> str:
    return re.sub(r"\W", "", key).lower()  # some keys end with a full stop in one list and not in the other


def read_aggrefact(place: str, cells: Cells) -> Iterator[Example]:
    """1 is supported."""
    label = {0: True, 1: False}[int(cells["label"])]
    name = f"{cells['dataset']}-{place.rpartition(' ')[2]}"
    yield _example(name, cells["claim"], cells["doc"], label, task=cells["dataset"])


def find_financebench(path: Path) -> Iterator[Located]:
    """The reference answers, or those of models that were given the evidence."""
    if path.is_file():
        yield from rows(path)
        return
    told = {row["financebench_id"]: row for _, row in rows(path / "data" / "financebench_open_source.jsonl")}
    for file in sorted((path / "results").glob("*.jsonl")):
        for place, cells in rows(file):
            # Only these models were given the evidence that the file holds, and nothing else.
            if str(cells["eval_mode"]).startswith("oracle"):
                source = told[cells["financebench_id"]]
                yield f"{file.name} {place}", {**source, **cells, "run": file.stem}


def read_financebench(_: str, cells: Cells) -> Iterator[Example]:
    """What people found correct or not; a reference answer is grounded."""
    evidence = [piece["evidence_text_full_page"] for piece in cells["evidence"]]
    given = "model_answer" in cells
    label = {"Correct Answer": False, "Incorrect Answer": True}.get(cells["label"]) if given else False
    name = "-".join(filter(None, (cells.get("run"), cells["financebench_id"])))
    yield _example(
        *(name, cells["model_answer" if given else "answer"], evidence, label, cells["question"]),
        group=cells["doc_name"],
        task=cells["question_type"],
        model=cells.get("model_name", "reference"),
    )


def find_pubmedqa(path: Path) -> Iterator[Located]:
    """Each article."""
    yield from _json(path).items()


def read_pubmedqa(place: str, cells: Cells) -> Iterator[Example]:
    """The conclusion of an abstract, which its other parts support."""
    name, contexts = f"pubmedqa-{place}", list(cells["CONTEXTS"])
    return _reference(name, cells["LONG_ANSWER"], contexts, cells["QUESTION"], place)


def find_drop(path: Path) -> Iterator[Located]:
    """Each question of each passage."""
    for name, cells in _json(path).items():
        for pair in cells["qa_pairs"]:
            yield name, {**pair, "passage": cells["passage"]}


def read_drop(place: str, cells: Cells) -> Iterator[Example]:
    """The reference answer: words, a number or a date."""
    answer = cells["answer"]
    date = " ".join(filter(None, (answer["date"].get(part) for part in ("day", "month", "year"))))
    text = ", ".join(answer["spans"]) or answer["number"] or date
    return _reference(f"drop-{cells['query_id']}", text, cells["passage"], cells["question"], place)


def find_covidqa(path: Path) -> Iterator[Located]:
    """Each question that has an answer."""
    for article in _json(path)["data"]:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                if asked.get("answers"):
                    place = f"question {asked['id']}"
                    yield place, {**asked, "context": paragraph["context"], "paragraph": paragraph}


def read_covidqa(_: str, cells: Cells) -> Iterator[Example]:
    """The reference answer."""
    name, document = f"covidqa-{cells['id']}", str(cells["paragraph"].get("document_id", ""))
    return _reference(name, cells["answers"][0]["text"], cells["context"], cells["question"], document)
