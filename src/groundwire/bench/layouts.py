"""Datasets as their authors distribute them, read from where you put them. Nothing is downloaded.

Their own labels are kept, with their own meaning: some say that the passages don't support an answer, some
that it is not the right one. What each layout makes a label of stands with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from groundwire.bench import layout_rows
from groundwire.bench.examples import Example, gathered, marked
from groundwire.bench.layout_rows import Cells, Located
from groundwire.core.errors import InputError
from groundwire.tables import TableError

_REFERENCE = "every answer is the reference answer, so all are grounded: it measures false alarms alone"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """One dataset's own layout.

    ``get`` says how to come by it and under what licence, ``label`` what a label says. ``find`` gives the
    rows, those of one table if left out, and ``read`` the examples of each. ``split`` names the column of a
    split, where rows tell theirs.
    """

    name: str
    title: str
    get: str
    read: Callable[[str, Cells], Iterator[Example]]
    label: str = _REFERENCE
    find: Callable[[Path], Iterator[Located]] = layout_rows.rows
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
        examples = marked(gathered(str(path), _attempts(layout, path, split)))
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


_LAYOUTS = (
    Layout(
        name="ragtruth",
        title="RAGTruth",
        get="git clone https://github.com/ParticleMedia/RAGTruth (MIT) and name its folder dataset",
        label="people marked words that the source does not support",
        find=layout_rows.find_ragtruth,
        read=layout_rows.read_ragtruth,
        split="split",
    ),
    Layout(
        name="halueval",
        title="HaluEval",
        get="git clone https://github.com/RUCAIBox/HaluEval (MIT) and name a file of its folder data",
        label="the answer was generated to be wrong; in general_data.json, without context, people's word",
        read=layout_rows.read_halueval,
    ),
    Layout(
        name="halubench",
        title="HaluBench",
        get="the Parquet file of PatronusAI/HaluBench on Hugging Face (mind its licence)",
        label="FAIL: the passage does not support the answer; the task is the set that a row is from",
        read=layout_rows.read_halubench,
    ),
    Layout(
        name="faithbench",
        title="FaithBench",
        get="git clone https://github.com/vectara/FaithBench (CC BY-NC-SA) and name data_for_release",
        label="an annotator marked words as unwanted or questionable; benign ones don't count",
        find=layout_rows.find_faithbench,
        read=layout_rows.read_faithbench,
    ),
    Layout(
        name="ragbench",
        title="RAGBench",
        get="the Parquet files of rungalileo/ragbench on Hugging Face (CC BY 4.0): one, or a folder of them",
        label="GPT-4 found a sentence that the documents do not support",
        find=layout_rows.find_ragbench,
        read=layout_rows.read_ragbench,
    ),
    Layout(
        name="llm-aggrefact",
        title="LLM-AggreFact",
        get="a Parquet or CSV file of lytang/LLM-AggreFact on Hugging Face (ask there for access)",
        label="the document does not support the claim; the task is the set that a row is from",
        read=layout_rows.read_aggrefact,
    ),
    Layout(
        name="financebench",
        title="FinanceBench",
        get="git clone https://github.com/patronus-ai/financebench (mind its licence) and name the clone, "
        "for answers of models that were given the evidence, or data/financebench_open_source.jsonl, for "
        "the reference answers",
        label="people found the answer incorrect; a refusal is unlabelled, a reference answer is grounded",
        find=layout_rows.find_financebench,
        read=layout_rows.read_financebench,
    ),
    Layout(
        name="pubmedqa",
        title="PubMedQA",
        get="git clone https://github.com/pubmedqa/pubmedqa (MIT) and name data/ori_pqal.json",
        find=layout_rows.find_pubmedqa,
        read=layout_rows.read_pubmedqa,
    ),
    Layout(
        name="drop",
        title="DROP",
        get="unzip drop_dataset.zip of https://allenai.org/data/drop (CC BY-SA 4.0) and name its dev file",
        find=layout_rows.find_drop,
        read=layout_rows.read_drop,
    ),
    Layout(
        name="covid-qa",
        title="COVID-QA",
        get="git clone https://github.com/deepset-ai/COVID-QA (Apache-2.0) and name a file of "
        "data/question-answering",
        find=layout_rows.find_covidqa,
        read=layout_rows.read_covidqa,
    ),
)
LAYOUTS: Mapping[str, Layout] = {layout.name: layout for layout in _LAYOUTS}
"""The layouts by name."""
