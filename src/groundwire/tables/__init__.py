"""Tables of answers that were kept: JSON lines, JSON, CSV and Parquet, read row by row into Interactions.

Nothing is judged or drawn here, and a row that can't be read is still a row: it says which line and why.
"""

from groundwire.tables.columns import Columns as Columns
from groundwire.tables.errors import TableError as TableError
from groundwire.tables.labels import readable as readable
from groundwire.tables.records import Form as Form
from groundwire.tables.records import Format as Format
from groundwire.tables.records import form as form
from groundwire.tables.rows import Row as Row
from groundwire.tables.rows import Table as Table
from groundwire.tables.rows import read as read
from groundwire.tables.rows import rows_of as rows_of
from groundwire.tables.rows import table_of as table_of

__all__ = [
    "Columns",
    "Form",
    "Format",
    "Row",
    "Table",
    "TableError",
    "form",
    "read",
    "readable",
    "rows_of",
    "table_of",
]
