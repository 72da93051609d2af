"""Runs migrations on the connection, and in the transaction, that ``groundwire.monitor.database`` opened."""

from alembic import context

from groundwire.monitor.schema import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=connection.dialect.name == "sqlite",
)
context.run_migrations()
