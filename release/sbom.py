"""The bill of materials of a full install: CycloneDX JSON, with the weights in it.

    python -m release.sbom [--out dist]

It lists an environment of its own, into which every extra but the encoder's PyTorch was installed from
requirements.lock, each file held against its hash.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from release.wheels import ROOT, built

DATA = ROOT / "src" / "groundwire" / "local" / "data"


def listed(folder: Path, wheel: Path) -> dict[str, Any]:
    """The packages of a fresh environment in ``folder``, as cyclonedx-py tells them."""
    python = str(folder / "bin" / "python")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [python, "-m", "pip", "install", "-q"]
    subprocess.run(
        [*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(ROOT / "requirements.lock")],
        check=True,
    )
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True)
    subprocess.run([python, "-m", "pip", "uninstall", "-q", "-y", "pip", "setuptools"], check=True)
    command = [str(Path(sys.executable).with_name("cyclonedx-py")), "environment", python, "--short-PURLs"]
    command += ["--output-reproducible", "--mc-type", "library", "--pyproject", str(ROOT / "pyproject.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    bill: dict[str, Any] = json.loads(done.stdout)
    return bill


def completed(bill: dict[str, Any]) -> dict[str, Any]:
    """The bill without where its files came from here, and with the weights that the package holds."""
    bill["components"] = [one for one in bill["components"] if one["name"] != "groundwire"]
    for component in bill["components"]:
        references = component.get("externalReferences", [])
        component["externalReferences"] = [one for one in references if one["type"] != "distribution"]
        component.pop("properties", None)
    record = json.loads((DATA / "encoder.json").read_text(encoding="utf-8"))
    for name, told in sorted(record["files"].items()):
        bill["components"].append(
            {
                "type": "machine-learning-model" if name.endswith(".onnx") else "data",
                "bom-ref": f"groundwire/local/data/{name}",
                "name": f"groundwire/local/data/{name}",
                "version": record["version"],
                "hashes": [{"alg": "SHA-256", "content": told["sha256"]}],
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        )
    return bill


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder that it is written to")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        wheel, _ = built(Path(name) / "dist")
        bill = completed(listed(Path(name) / "environment", wheel))
        path = asked.out / f"{wheel.name.partition('-py3')[0]}.cdx.json"
    asked.out.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {len(bill['components'])} components")
    return 0


if __name__ == "__main__":
    sys.exit(main())
