"""The tables of the store. What changes here needs a migration beside it; nothing is read or written here.

Times are microseconds since 1970, in UTC. Texts stand apart from figures, so that a hundred thousand answers
can be counted without reading one of them.
"""

from __future__ import annotations

import sqlalchemy as sa

HEAD = "0002"

metadata = sa.MetaData()

_ID = sa.String(32)


def _of_answer() -> sa.Column[str]:
    return sa.Column("answer_id", _ID, sa.ForeignKey("answers.id", ondelete="CASCADE"), primary_key=True)


answers = sa.Table(
    "answers",
    metadata,
    sa.Column("id", _ID, primary_key=True),
    sa.Column("at", sa.BigInteger, nullable=False, index=True),
    sa.Column("outcome_id", sa.Text, index=True),
    sa.Column("run_id", sa.Text, index=True),
    sa.Column("pair", sa.String(16), index=True),
    sa.Column("twin", sa.String(16)),
    sa.Column("judged", sa.Boolean, nullable=False),
    sa.Column("score", sa.Double),
    sa.Column("threshold", sa.Double),
    sa.Column("margin", sa.Double, index=True),
    sa.Column("hallucinated", sa.Boolean),
    sa.Column("level", sa.String(16)),
    sa.Column("kind", sa.String(40)),
    sa.Column("abstention", sa.String(40)),
    sa.Column("detector", sa.Text),
    sa.Column("fingerprint", sa.String(16)),
    sa.Column("seconds", sa.Double, nullable=False),
    sa.Column("calls", sa.Integer, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost", sa.Double),
    sa.Column("action", sa.String(16)),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("draft", sa.Boolean, nullable=False),
    sa.Column("why", sa.String(16), nullable=False),
    sa.Column("chance", sa.Double, nullable=False, index=True),
    sa.Column("drawn", sa.BigInteger),
    sa.Column("drawn_flagged", sa.BigInteger),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Index("ix_answers_flagged", "hallucinated", "chance"),
    sa.Index("ix_answers_flagged_at", "hallucinated", "at"),
    sa.Index("ix_answers_twin", "twin", "hallucinated"),
)
"""One row an outcome. ``pair`` is shared by answers to one question, ``twin`` by the very same answer.

``margin`` is how far the score is from the threshold. ``draft`` marks an answer that nobody was given, for
another attempt followed. ``why`` says why it is kept (see Sampling); ``chance`` is a random number in [0, 1)
by which samples are drawn, ``drawn`` and ``drawn_flagged`` when it was drawn for review.
"""

bodies = sa.Table(
    "bodies",
    metadata,
    _of_answer(),
    sa.Column("question", sa.Text),
    sa.Column("answer", sa.Text),
    sa.Column("rest", sa.Text, nullable=False),
)
"""The texts: question and answer, null where nothing could be read, and all else of it as JSON."""

tags = sa.Table(
    "tags",
    metadata,
    _of_answer(),
    sa.Column("name", sa.String(100), primary_key=True),
    sa.Column("value", sa.String(200), primary_key=True),
    sa.Index("ix_tags_name_value", "name", "value"),
)

feedback = sa.Table(
    "feedback",
    metadata,
    _of_answer(),
    sa.Column("reviewer", sa.String(200), primary_key=True),
    sa.Column("at", sa.BigInteger, nullable=False),
    sa.Column("opinion", sa.String(16), nullable=False),
    sa.Column("hallucinated", sa.Boolean),
    sa.Column("kind", sa.String(40)),
    sa.Column("spans", sa.Text),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("source", sa.String(40), nullable=False),
)

reservations = sa.Table(
    "reservations",
    metadata,
    _of_answer(),
    sa.Column("reviewer", sa.String(200), primary_key=True),
    sa.Column("until", sa.BigInteger, nullable=False, index=True),
)

settings = sa.Table(
    "settings",
    metadata,
    sa.Column("name", sa.String(100), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
"""What the store knows about itself, such as when the reference for drift begins."""
