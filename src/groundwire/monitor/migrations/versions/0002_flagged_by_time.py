"""An index for the table of hallucinated answers, latest first."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the index."""
    op.create_index("ix_answers_flagged_at", "answers", ["hallucinated", "at"])
