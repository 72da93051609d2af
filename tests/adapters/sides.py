"""The same application in each framework: it finds given passages, and gives a given answer."""

import asyncio
import importlib.util

from groundwire import Interaction, Passage

INSTALLED = [
    name
    for name, package in (("langchain", "langchain_core"), ("llama_index", "llama_index"))
    if importlib.util.find_spec(package)
]


class LangChain:
    """A chain of retriever, prompt and model."""

    def chain(self, interaction):
        from langchain_core.documents import Document
        from langchain_core.language_models import FakeListChatModel
        from langchain_core.output_parsers import StrOutputParser
        from langchain_core.prompts import ChatPromptTemplate
        from langchain_core.retrievers import BaseRetriever
        from langchain_core.runnables import RunnablePassthrough

        class Finds(BaseRetriever):
            def _get_relevant_documents(self, query, *, run_manager):
                return [Document(page_content=p.text, id=p.id) for p in interaction.contexts]

        found = {
            "context": Finds() | (lambda documents: "\n\n".join(d.page_content for d in documents)),
            "question": RunnablePassthrough(),
        }
        prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{question}")])
        model = FakeListChatModel(responses=[interaction.answer])
        return found | prompt | model | StrOutputParser()

    def handler(self, checker, on_outcome=None, **options):
        from groundwire.langchain import GroundwireCallbackHandler

        return GroundwireCallbackHandler(checker, on_outcome, langsmith=False, **options).install()

    def ask(self, interaction, way):
        return self._run(self.chain(interaction), interaction, way)

    def checked(self, interaction, checker, way, **options):
        """The answer and the verdict that an application gets from a wrapper."""
        from groundwire.langchain import with_hallucination_check

        app = with_hallucination_check(self.chain(interaction), checker=checker, **options)
        result = self._run(app, interaction, way)
        return result["answer"], result["hallucination"]

    def _run(self, app, interaction, way):
        def added(chunks):
            total = None
            for chunk in chunks:
                total = chunk if total is None else total + chunk
            return total

        async def astream():
            return added([chunk async for chunk in app.astream(interaction.question)])

        ways = {
            "call": lambda: app.invoke(interaction.question),
            "acall": lambda: asyncio.run(app.ainvoke(interaction.question)),
            "stream": lambda: added(app.stream(interaction.question)),
            "astream": lambda: asyncio.run(astream()),
        }
        return ways[way]()

    def give_up(self, interaction):
        tokens = self.chain(interaction).stream(interaction.question)
        next(tokens)
        tokens.close()


class LlamaIndex:
    """A query engine of retriever, synthesizer and model."""

    def engine(self, interaction, way):
        from llama_index.core.query_engine import RetrieverQueryEngine
        from llama_index.core.retrievers import BaseRetriever
        from llama_index.core.schema import NodeWithScore, TextNode

        from tests.llama_index.apps import Oracle

        class Finds(BaseRetriever):
            def _retrieve(self, query_bundle):
                return [NodeWithScore(node=TextNode(text=p.text, id_=p.id)) for p in interaction.contexts]

        class Says(Oracle):
            def _said(self, text):
                return interaction.answer

        return RetrieverQueryEngine.from_args(Finds(), llm=Says(), streaming="stream" in way)

    def handler(self, checker, on_outcome=None, **options):
        from groundwire.llama_index import GroundwireHandler

        return GroundwireHandler(checker, on_outcome, **{"sinks": (), **options}).install()

    def ask(self, interaction, way):
        return self._run(self.engine(interaction, way), interaction, way)[0]

    def checked(self, interaction, checker, way, **options):
        """The answer and the verdict that an application gets from a checked engine."""
        from groundwire.llama_index import CheckedQueryEngine

        engine = CheckedQueryEngine(self.engine(interaction, way), checker=checker, **options)
        text, response = self._run(engine, interaction, way)
        return text, response.metadata["hallucination"]

    def _run(self, engine, interaction, way):
        async def arun():
            response = await engine.aquery(interaction.question)
            if way == "acall":
                return str(response), response
            return "".join([token async for token in response.async_response_gen()]), response

        if way.startswith("a"):
            return asyncio.run(arun())
        response = engine.query(interaction.question)
        return ("".join(response.response_gen) if way == "stream" else str(response)), response

    def give_up(self, interaction):
        tokens = self.engine(interaction, "stream").query(interaction.question).response_gen
        next(tokens)
        tokens.close()


SIDES = {name: {"langchain": LangChain, "llama_index": LlamaIndex}[name]() for name in INSTALLED}
WAYS = ("call", "acall", "stream", "astream")


def interaction(question, contexts, answer):
    """An interaction whose passages have ids, as retrieved ones do."""
    found = [Passage(text=text, id=f"p{i}") for i, text in enumerate(contexts)]
    return Interaction(question=question, contexts=found, answer=answer)


CASES = {
    "grounded": interaction("What does a bag cost?", ["A bag costs 25 EUR"], "A bag costs 25 EUR"),
    "hallucinated": interaction("What does a bag cost?", ["A bag costs 25 EUR"], "A bag costs 75 EUR"),
    "several passages": interaction(
        "How heavy, how old?", ["It weighs 8 kilos", "It is 12 years old"], "It is 12 years old and 9 kilos"
    ),
    "other scripts": interaction("料金は?", ["料金は 25 ユーロ です"], "料金は 75 ユーロ です 🛄"),
    "braces and markup": interaction("a {b}?", ["<x>{y} costs</x> {{2}}"], '{y} costs {"z": 3}'),
    "nothing found": interaction("What does a bag cost?", [], "A bag costs 25 EUR"),
}
