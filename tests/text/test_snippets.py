"""Blocks of code: which names they use, and which are their own."""

from __future__ import annotations

from groundwire.text import snippets
from groundwire.text.snippets import Documented, Snippet, Use

CODE = """
from acme import Client  # max_size is 5
client = Client(limit=5)
hits = client.search("a, b=3", top_k=2)
"""


def used(text):
    return [(one.use, one.name, one.of) for one in Snippet(text).used() if one.use is not Use.KEY]


def test_blocks_are_found_without_their_fences():
    text = "Do this:\n```python\nrun()\n```\nand\n~~~\nls\n~~~\n"
    assert [span.of(text).strip() for span in snippets.find(text)] == ["run()", "ls"]
    assert snippets.find("no code") == []


def test_parameters_and_methods_belong_to_something():
    """What stands in strings and comments is no name that is used."""
    assert used(CODE) == [
        (Use.PARAMETER, "limit", "Client"),
        (Use.PARAMETER, "top_k", "search"),
        (Use.METHOD, "search", "client"),
    ]


def test_flags_belong_to_a_command():
    text = "$ tidal deploy --region eu \\\n    --replicas 3\nx = y --z\n"
    assert used(text) == [(Use.FLAG, "--region", "tidal"), (Use.FLAG, "--replicas", "tidal")]


def test_a_block_makes_names_of_its_own():
    assert {"client", "hits", "Client", "acme"} <= Snippet(CODE).own
    assert Snippet(CODE).made_by == {"client": "Client", "hits": "search"}
    assert [span.of(CODE) for span in Snippet(CODE).comments] == ["# max_size is 5"]


def test_a_document_names_code():
    document = Documented("Call client.search(query, limit=10), or `lumen run --dry-run`; see pool_size.")
    assert document.parameters["search"] == {"query", "limit"}
    assert document.methods == {"client": {"search"}}
    assert {"search", "--dry-run", "pool_size"} <= document.code
