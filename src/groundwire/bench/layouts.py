"""Datasets as their authors distribute them, read from where you put them. Nothing is downloaded.

Their own labels are kept, with their own meaning: some say that the passages don't support an answer, some
that it is not the right one. What each layout makes a label of stands with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groundwire.bench.datasets import gathered, label_of
from groundwire.bench.examples import Example
from groundwire.core.errors import InputError
from groundwire.core.interaction import Interaction
from groundwire.core.span import Span
from groundwire.tables import TableError
from groundwire.tables.records import records

Cells = Mapping[str, Any]
Located = tuple[str, Cells]
"""A row, and where it stands, for messages."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """One dataset's own layout.

    ``get`` says how to come by it and under what licence, ``label`` what a label says. ``split`` names the
    column of a split, where rows tell theirs.
    """

    name: str
    title: str
    get: str
    label: str
    find: Callable[[Path], Iterator[Located]]
    read: Callable[[str, Cells], Iterator[Example]]
    split: str = ""


def load_layout(name: str, path: Path, *, columns: Mapping[str, str] | None = None) -> list[Example]:
    """The examples of a dataset in its own layout; ``NAME:SPLIT`` reads one split, where rows tell theirs.

    Raises TableError for an unknown layout, for a file that is not there, saying how to get it, and for rows
    that are not in that layout.
    """
    name, _, split = name.partition(":")
    if name not in LAYOUTS:
        raise TableError(f"no layout is called {name!r}: expected one of {', '.join(LAYOUTS)}")
    layout = LAYOUTS[name]
    if columns:
        raise TableError(f"the layout {name!r} knows its columns: leave out columns, or the layout")
    if split and not layout.split:
        raise TableError(f"{layout.title} tells no splits in its rows: name the file of the split instead")
    try:
        examples = gathered(str(path), _attempts(layout, path, split))
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path}: {error}. {layout.title}: {layout.get}") from error
    except (KeyError, TypeError, AttributeError) as error:  # what holds the rows is of another shape
        raise TableError(
            f"{path} is not in the layout of {layout.title} ({error!r}). {layout.get}"
        ) from error
    if not examples:
        which = f" of the split {split!r}" if split else ""
        raise TableError(f"{path}: no example{which} in the layout of {layout.title}. {layout.get}")
    return examples


def _attempts(layout: Layout, path: Path, split: str) -> Iterator[Example | str]:
    for place, cells in layout.find(path):
        if split and cells.get(layout.split) != split:
            continue
        try:
            yield from layout.read(place, cells)
        except KeyError as error:
            yield f"{place}: no field {error.args[0]!r}, so this is not the layout of {layout.title}"
        except (InputError, ValueError, TypeError, AttributeError) as error:
            yield f"{place}: {error}"


def _rows(path: Path) -> Iterator[Located]:
    with path.open("rb") as stream:
        for record in records(stream, name=path.name):
            if record.cells is None:
                raise TableError(f"{path}: line {record.line}: {record.problem}")
            yield f"line {record.line}", record.cells


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


def _find_ragtruth(path: Path) -> Iterator[Located]:
    folder = path.parent if path.is_file() else path / "dataset" if (path / "dataset").is_dir() else path
    sources = {cells["source_id"]: cells for _, cells in _rows(folder / "source_info.jsonl")}
    for place, cells in _rows(folder / "response.jsonl"):
        source = sources.get(cells.get("source_id"))
        if source is None:
            raise TableError(f"{folder}: {place}: source_info.jsonl has no source {cells.get('source_id')!r}")
        yield place, {**cells, "source": source}


def _read_ragtruth(_: str, cells: Cells) -> Iterator[Example]:
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


def _read_halueval(place: str, cells: Cells) -> Iterator[Example]:
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


def _read_halubench(_: str, cells: Cells) -> Iterator[Example]:
    label = {"PASS": False, "FAIL": True}[cells["label"]]
    yield _example(
        *(str(cells["id"]), cells["answer"], cells["passage"], label, cells["question"]),
        task=cells["source_ds"],
    )


def _find_faithbench(path: Path) -> Iterator[Located]:
    folder = path / "data_for_release" if (path / "data_for_release").is_dir() else path
    for file in _files(folder, "batch_*.json"):
        batch = _json(file)
        samples = batch["samples"] if isinstance(batch, Mapping) else batch
        for sample in samples:
            yield f"{file.stem}-{sample['sample_id']}", sample


def _read_faithbench(place: str, cells: Cells) -> Iterator[Example]:
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


def _find_ragbench(path: Path) -> Iterator[Located]:
    for file in _files(path, "*.parquet"):
        for place, cells in _rows(file):
            yield f"{file.name} {place}", cells


def _read_ragbench(_: str, cells: Cells) -> Iterator[Example]:
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


def _read_aggrefact(place: str, cells: Cells) -> Iterator[Example]:
    label = {0: True, 1: False}[int(cells["label"])]
    name = f"{cells['dataset']}-{place.rpartition(' ')[2]}"
    yield _example(name, cells["claim"], cells["doc"], label, task=cells["dataset"])


def _find_financebench(path: Path) -> Iterator[Located]:
    if path.is_file():
        yield from _rows(path)
        return
    told = {row["financebench_id"]: row for _, row in _rows(path / "data" / "financebench_open_source.jsonl")}
    for file in sorted((path / "results").glob("*.jsonl")):
        for place, cells in _rows(file):
            # Only these models were given the evidence that the file holds, and nothing else.
            if str(cells["eval_mode"]).startswith("oracle"):
                source = told[cells["financebench_id"]]
                yield f"{file.name} {place}", {**source, **cells, "run": file.stem}


def _read_financebench(_: str, cells: Cells) -> Iterator[Example]:
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


def _find_pubmedqa(path: Path) -> Iterator[Located]:
    yield from _json(path).items()


def _read_pubmedqa(place: str, cells: Cells) -> Iterator[Example]:
    yield _example(
        *(f"pubmedqa-{place}", cells["LONG_ANSWER"], list(cells["CONTEXTS"]), False, cells["QUESTION"]),
        group=place,
        task="qa",
        model="reference",
    )


def _find_drop(path: Path) -> Iterator[Located]:
    for name, cells in _json(path).items():
        for pair in cells["qa_pairs"]:
            yield name, {**pair, "passage": cells["passage"]}


def _read_drop(place: str, cells: Cells) -> Iterator[Example]:
    answer = cells["answer"]
    date = " ".join(filter(None, (answer["date"].get(part) for part in ("day", "month", "year"))))
    text = ", ".join(answer["spans"]) or answer["number"] or date
    yield _example(
        *(f"drop-{cells['query_id']}", text, cells["passage"], False, cells["question"]),
        group=place,
        task="qa",
        model="reference",
    )


def _find_covidqa(path: Path) -> Iterator[Located]:
    for article in _json(path)["data"]:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                if asked.get("answers"):
                    place = f"question {asked['id']}"
                    yield place, {**asked, "context": paragraph["context"], "paragraph": paragraph}


def _read_covidqa(_: str, cells: Cells) -> Iterator[Example]:
    yield _example(
        *(f"covidqa-{cells['id']}", cells["answers"][0]["text"], cells["context"], False, cells["question"]),
        group=str(cells["paragraph"].get("document_id", "")),
        task="qa",
        model="reference",
    )


_REFERENCE = "every answer is the reference answer, so all are grounded: it measures false alarms alone"
_LAYOUTS = (
    Layout(
        name="ragtruth",
        title="RAGTruth",
        get="git clone https://github.com/ParticleMedia/RAGTruth (MIT) and name its folder dataset",
        label="people marked words that the source does not support",
        find=_find_ragtruth,
        read=_read_ragtruth,
        split="split",
    ),
    Layout(
        name="halueval",
        title="HaluEval",
        get="git clone https://github.com/RUCAIBox/HaluEval (MIT) and name a file of its folder data",
        label="the answer was generated to be wrong; in general_data.json, without context, people's word",
        find=_rows,
        read=_read_halueval,
    ),
    Layout(
        name="halubench",
        title="HaluBench",
        get="the Parquet file of PatronusAI/HaluBench on Hugging Face (mind its licence)",
        label="FAIL: the passage does not support the answer; the task is the set that a row is from",
        find=_rows,
        read=_read_halubench,
    ),
    Layout(
        name="faithbench",
        title="FaithBench",
        get="git clone https://github.com/vectara/FaithBench (CC BY-NC-SA) and name data_for_release",
        label="an annotator marked words as unwanted or questionable; benign ones don't count",
        find=_find_faithbench,
        read=_read_faithbench,
    ),
    Layout(
        name="ragbench",
        title="RAGBench",
        get="the Parquet files of rungalileo/ragbench on Hugging Face (CC BY 4.0): one, or a folder of them",
        label="GPT-4 found a sentence that the documents do not support",
        find=_find_ragbench,
        read=_read_ragbench,
    ),
    Layout(
        name="llm-aggrefact",
        title="LLM-AggreFact",
        get="a Parquet or CSV file of lytang/LLM-AggreFact on Hugging Face (ask there for access)",
        label="the document does not support the claim; the task is the set that a row is from",
        find=_rows,
        read=_read_aggrefact,
    ),
    Layout(
        name="financebench",
        title="FinanceBench",
        get="git clone https://github.com/patronus-ai/financebench (mind its licence) and name the clone, "
        "for answers of models that were given the evidence, or data/financebench_open_source.jsonl, for "
        "the reference answers",
        label="people found the answer incorrect; a refusal is unlabelled, a reference answer is grounded",
        find=_find_financebench,
        read=_read_financebench,
    ),
    Layout(
        name="pubmedqa",
        title="PubMedQA",
        get="git clone https://github.com/pubmedqa/pubmedqa (MIT) and name data/ori_pqal.json",
        label=_REFERENCE,
        find=_find_pubmedqa,
        read=_read_pubmedqa,
    ),
    Layout(
        name="drop",
        title="DROP",
        get="unzip drop_dataset.zip of https://allenai.org/data/drop (CC BY-SA 4.0) and name its dev file",
        label=_REFERENCE,
        find=_find_drop,
        read=_read_drop,
    ),
    Layout(
        name="covid-qa",
        title="COVID-QA",
        get="git clone https://github.com/deepset-ai/COVID-QA (Apache-2.0) and name a file of "
        "data/question-answering",
        label=_REFERENCE,
        find=_find_covidqa,
        read=_read_covidqa,
    ),
)
LAYOUTS: Mapping[str, Layout] = {layout.name: layout for layout in _LAYOUTS}
"""The layouts by name."""
