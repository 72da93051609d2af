r"""Settings as people write them: a YAML, TOML or JSON file, or a dict of the same shape.

``load`` reads and checks them, naming every mistake at once; ``Checker.from_config`` builds from them.

    enabled: true
    detector: embedded            # or {name: embedded, some_parameter: ...}
    judge:
      model: bedrock:MODEL_ID
      embeddings: bedrock:EMBEDDING_MODEL_ID             # alone, for methods that only embed
      models: {second: bedrock:ANOTHER_MODEL_ID}        # for methods that ask several, by your names for them
      parameters: {region_name: eu-central-1, temperature: 0}
      timeout: 30                 # seconds for one attempt at a call
      max_concurrency: 8
      limits: {retries: 3, requests_per_minute: 200, tokens_per_minute: 90000, budget: {cost: 20}}
      breaker: {failures: 5, cooldown: 30}              # in a row; seconds. Or off
      prices:                     # for a million tokens
        MODEL_ID: {input: 0.06, output: 0.24}
        ANOTHER_MODEL_ID: {input: 0.8, output: 3.2}
      memory: {mode: on, path: judge-memory.sqlite, size: 10000}
    timeout: 60                   # seconds for one check
    budget: {calls: 10}           # of one check
    on_abstention: return         # or raise
    sinks: [{prometheus: {port: 9464}}, langfuse]     # who else is told of outcomes; see docs/sinks.md
    redact: [keys, emails, {pattern: "EMP-\d+"}]     # masked before anything is judged, or kept
    monitor:                      # or a URL alone; see groundwire.config.monitor
      url: sqlite:///groundwire.db
      tags: {application: handbook}
      sampling: {rate: 0.1, flagged: true}
      retention: {days: 90}
      redact: [keys, emails, cards]                   # beside the above, before anything is kept
      alerts: [log, {webhook: "https://..."}]
    fallback: embedded            # judges while the judge's model is unavailable; off for nobody
    max_characters: 10000000      # what has more is not judged; null for no limit
    max_passages: 100000
    tuned: tuned.json             # what groundwire tune wrote, beside this file; in place of a threshold
    threshold: 0.5
    levels:
      medium: {from: 0.3, label: AMBER, title: Please check, warning: Some of this is not in our documents.}
      high: {from: 0.7}
"""

from __future__ import annotations

from groundwire.config.settings import Settings, load

__all__ = ["Settings", "load"]
