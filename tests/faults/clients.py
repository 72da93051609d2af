"""Four real clients of one server: langchain-aws with boto3, a LangChain model, a LlamaIndex LLM, a function.

The latter three speak HTTP by themselves, each with a library of its own, as applications' own models do.
"""

import json
import urllib.request
from functools import partial

import httpx
import requests
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.base.llms.types import CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM

from groundwire import Judge
from groundwire.langchain.models import from_string
from tests.servers.bedrock_server import BedrockServer, says

PATIENCE = 40.0
"""Seconds that a client waits for each read: longer than any deadline of these tests."""


class Faulty(BedrockServer):
    """Acts by the name of the model that is asked: ``acts[name]``, else a reply."""

    def __init__(self):
        self.acts = {}
        super().__init__()

    def next_act(self, model, body):
        super().next_act(model, body)
        return self.acts.get(model, says("scripted"))

    def environment(self):
        """What boto3 has to be told to come here."""
        return {
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ACCESS_KEY_ID": "AKIANOTAKEYNOTAKEY00",
            "AWS_SECRET_ACCESS_KEY": "not-a-secret",
            "AWS_REGION": "eu-central-1",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.url,
        }


def asked(system, user):
    """A request as the server is sent it."""
    return {"system": [{"text": system}], "messages": [{"role": "user", "content": [{"text": user}]}]}


def said(reply):
    """The text of what came back."""
    return reply["output"]["message"]["content"][0]["text"]


class OwnChat(BaseChatModel):
    """A LangChain model of somebody's own, over httpx."""

    address: str

    @property
    def _llm_type(self):
        return "own"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        system, user = (message.content for message in messages)
        reply = httpx.post(self.address, json=asked(system, user), timeout=PATIENCE)
        reply.raise_for_status()
        return ChatResult(generations=[ChatGeneration(message=AIMessage(said(reply.json())))])


class OwnLLM(CustomLLM):
    """A LlamaIndex LLM of somebody's own, over requests."""

    address: str

    @property
    def metadata(self):
        return LLMMetadata(model_name="own")

    def complete(self, prompt, formatted=False, **kwargs):
        reply = requests.post(self.address, json=asked("", prompt), timeout=PATIENCE)
        reply.raise_for_status()
        return CompletionResponse(text=said(reply.json()))

    def stream_complete(self, prompt, formatted=False, **kwargs):
        raise NotImplementedError


def function(system, user, *, address):
    """A function, over urllib."""
    request = urllib.request.Request(address, json.dumps(asked(system, user)).encode())
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
        return said(json.load(reply))


CLIENTS = {
    "langchain-aws": lambda name, address: from_string(f"bedrock:{name}", max_retries=0),
    "LangChain": lambda name, address: OwnChat(address=address),
    "LlamaIndex": lambda name, address: OwnLLM(address=address),
    "function": lambda name, address: partial(function, address=address),
}


def judge(server, client, name, **options):
    """A judge whose model is asked under that name."""
    return Judge(CLIENTS[client](name, f"{server.url}/model/{name}/converse"), **options)
