"""The first tables: answers, their texts and tags, feedback, reservations and settings."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables. They are written out: what a later version of the schema says must not change them."""
    op.create_table(
        "answers",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("outcome_id", sa.Text),
        sa.Column("run_id", sa.Text),
        sa.Column("pair", sa.String(16)),
        sa.Column("twin", sa.String(16)),
        sa.Column("judged", sa.Boolean, nullable=False),
        sa.Column("score", sa.Double),
        sa.Column("threshold", sa.Double),
        sa.Column("margin", sa.Double),
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
        sa.Column("chance", sa.Double, nullable=False),
        sa.Column("drawn", sa.BigInteger),
        sa.Column("drawn_flagged", sa.BigInteger),
        sa.Column("size", sa.Integer, nullable=False),
    )
    for name in ("at", "outcome_id", "run_id", "pair", "margin", "chance"):
        op.create_index(f"ix_answers_{name}", "answers", [name])
    op.create_index("ix_answers_flagged", "answers", ["hallucinated", "chance"])
    op.create_index("ix_answers_twin", "answers", ["twin", "hallucinated"])
    op.create_table(
        "bodies",
        _of_answer(),
        sa.Column("question", sa.Text),
        sa.Column("answer", sa.Text),
        sa.Column("rest", sa.Text, nullable=False),
    )
    op.create_table(
        "tags",
        _of_answer(),
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("value", sa.String(200), primary_key=True),
    )
    op.create_index("ix_tags_name_value", "tags", ["name", "value"])
    op.create_table(
        "feedback",
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
    op.create_table(
        "reservations",
        _of_answer(),
        sa.Column("reviewer", sa.String(200), primary_key=True),
        sa.Column("until", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_reservations_until", "reservations", ["until"])
    op.create_table(
        "settings",
        sa.Column("name", sa.String(100), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )


def _of_answer() -> sa.Column[str]:
    answers = sa.ForeignKey("answers.id", ondelete="CASCADE")
    return sa.Column("answer_id", sa.String(32), answers, primary_key=True)
