"""Agents that keep files, as deep agents do: what a model wrote into one is no evidence when it reads it."""

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from groundwire import AbstentionReason
from groundwire.langchain import HallucinationMiddleware
from tests.langchain.conftest import listening, said
from tests.langchain.test_supervisors import Script, calling
from tests.langchain.wrapped_apps import CHECKER

ASKED, ANSWERED = "What does a second bag cost?", "A second bag costs 75 EUR on all flights."
DRAFT = "# Fees\n\nA second bag costs 99 EUR on all flights.\nIt is paid at the desk before the flight."
FEES = "# Fees of 2026\n\nOne bag is free on all flights.\nA second bag costs 25 EUR on all flights."
SHOWN = f"@@ lines 1-4 of 4 @@\n{FEES}"
WRITES, READS = (
    calling("write_file", file_path="/a.md", content=DRAFT),
    calling("read_file", file_path="/a.md"),
)
EDITS = calling("edit_file", file_path="/a.md", old_string="99 EUR", new_string="75 EUR")
ELSEWHERE = calling("edit_file", file_path="/a.md", old_string="at the desk", new_string="on board")
GREPS, LOOKS_UP = calling("grep", pattern="bag", path="/"), calling("read_file", file_path="/fees.md")


def file_tools():
    """Four tools over files of which one is the application's; they answer as deep agents' do."""
    files = {"/fees.md": FEES}

    @tool
    def write_file(file_path: str, content: str) -> str:
        """Write a file."""
        files[file_path] = content
        return f"Updated file {file_path}"

    @tool
    def edit_file(file_path: str, old_string: str, new_string: str) -> str:
        """Edit a file."""
        files[file_path] = files[file_path].replace(old_string, new_string)
        return f"Successfully replaced 1 instance(s) of the string in '{file_path}'"

    @tool
    def read_file(file_path: str) -> str:
        """Read a file."""
        lines = files[file_path].splitlines()
        return "\n".join([f"@@ lines 1-{len(lines)} of {len(lines)} @@", *lines])

    @tool
    def grep(pattern: str, path: str) -> str:
        """Search the files that the model has written."""
        lines = enumerate(files["/a.md"].splitlines(), 1)
        return "\n".join(["/a.md:", *(f"  {n}: {line}" for n, line in lines if pattern in line)])

    return [write_file, edit_file, read_file, grep]


STEPS = {
    "writes": [WRITES],
    "reads": [WRITES, READS],
    "edits": [WRITES, EDITS, READS],
    "edits twice": [WRITES, READS, EDITS, ELSEWHERE, READS],
    "edits elsewhere first": [WRITES, ELSEWHERE, EDITS, GREPS],
    "greps": [WRITES, EDITS, GREPS],
}


def agent(steps, **options):
    calls = [
        one.model_copy(update={"tool_calls": [one.tool_calls[0] | {"id": str(n)}]})
        for n, one in enumerate(steps)
    ]
    return create_agent(Script(responses=[*calls, AIMessage(ANSWERED)]), file_tools(), **options)


@pytest.mark.parametrize("steps", STEPS)
def test_a_file_that_the_model_wrote_is_no_evidence(steps, heard):
    """Be it edited since, and whatever its tools say of it."""
    agent(STEPS[steps]).invoke({"messages": [HumanMessage(ASKED)]}, listening(heard))
    assert said(heard.only()) == (AbstentionReason.NO_CONTEXT, ASKED, [], ANSWERED)
    app = agent(STEPS[steps], middleware=[HallucinationMiddleware(checker=CHECKER)])
    result = app.invoke({"messages": [HumanMessage(ASKED)]})
    assert result["hallucination"]["abstention"] == AbstentionReason.NO_CONTEXT


@pytest.mark.parametrize("steps", STEPS)
def test_a_file_of_the_application_s_beside_it_is(steps, heard):
    """As it was shown, with what says which lines it has."""
    agent([LOOKS_UP, *STEPS[steps]]).invoke({"messages": [HumanMessage(ASKED)]}, listening(heard))
    assert said(heard.only()) == (None, ASKED, [SHOWN], ANSWERED)
