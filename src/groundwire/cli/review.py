"""``groundwire review``: the page on which people review what was kept."""

from __future__ import annotations

import argparse
import secrets
import sys
import textwrap
from contextlib import closing

from groundwire.cli import monitor_view as view
from groundwire.cli.exits import DONE
from groundwire.cli.monitor import open_monitor

_TOKEN_BYTES = 24

_EXAMPLES = """\
examples:
  groundwire review                                   the answers of groundwire.db, on this machine alone
  groundwire review --db postgresql://user@host/db --reviewers 2
  groundwire review --port 9000 --open-opinions       everybody sees at once what others said

Ctrl-C ends it, with exit code 130. Full documentation: docs/review.md
"""


def add_review(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser of the whole."""
    parser = commands.add_parser(
        "review",
        help="open the page on which people review what was kept",
        description=textwrap.dedent("""\
            Serve a page on this machine on which people review kept answers and look at their figures. It
            prints a link that signs in; whoever has it sees and reviews everything that is kept.
            """),
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=_review)
    parser.add_argument("--db", metavar="URL", help="default: sqlite:///groundwire.db")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8765, help="0 takes a free one (default: 8765)")
    parser.add_argument(
        "--allow-remote",
        action="store_true",
        help="let other machines in; give them TLS by a proxy, for the token goes over the wire",
    )
    parser.add_argument(
        "--trusted-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer under this name too, such as that of the proxy",
    )
    parser.add_argument("--reviewers", type=int, default=1, metavar="N", help="wanted on each answer")
    parser.add_argument(
        "--reserve",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="keep an answer for whom it was shown (default: 600)",
    )
    parser.add_argument(
        "--open-opinions",
        action="store_true",
        help="show what others said before one has said something oneself",
    )


def _review(given: argparse.Namespace) -> int:
    from groundwire.review import Server, create_app  # noqa: PLC0415 - an extra
    from groundwire.review.server import check_host, link_name, names  # noqa: PLC0415

    check_host(given.host, allow_remote=given.allow_remote)
    hosts = names(given.host, given.trusted_host, allow_remote=given.allow_remote)
    with closing(open_monitor(given.db)) as monitor:
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        app = create_app(
            monitor,
            token=token,
            hosts=hosts,
            blind=not given.open_opinions,
            reviewers=given.reviewers,
            reserve=given.reserve,
        )
        server = Server(app, host=given.host, port=given.port, allow_remote=given.allow_remote)
        name = link_name(given.host, given.trusted_host)
        sys.stdout.write(f"{server.url_at(name) if name else server.url}/login?token={token}\n")
        sys.stdout.flush()
        view.hint(
            f"{monitor.count():,} answers are kept. Open the link above to review them; Ctrl-C ends this."
        )
        server.run()
    return DONE
