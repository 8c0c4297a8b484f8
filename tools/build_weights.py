"""Build ``src/falconage/clocks/data`` from pinned wheels and the facts in ``catalogue.tsv``.

Run ``python tools/build_weights.py``; ``--wheels DIR`` keeps the downloads, ``--out DIR`` writes elsewhere. The report
lists what is in the tables, every difference from other copies, and every disagreement with the catalogue.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import _catalogue as catalogue  # noqa: E402
import _checks as checks  # noqa: E402
import _sources as sources  # noqa: E402
import _tables as tables  # noqa: E402
from _wheels import Wheels  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

DATA = HERE.parent / "src" / "falconage" / "clocks" / "data"
CACHE = Path.home() / ".cache" / "falconage-wheels"
ALSO_REFERENCE = ("biolearn@0.9.1:biolearn/data/Zhang2019.csv",)
"""Tables that are not in the package yet, whose features get a 450K median all the same."""


def build(wheels: Wheels, out: Path) -> list[str]:
    """Write every table into a folder and return the report, one line each."""
    out.mkdir(parents=True, exist_ok=True)
    facts = catalogue.read(HERE / "catalogue.tsv")
    catalogue.check(facts, catalogue.read(HERE / "ambiguous.tsv"))
    known = {(r["id"], r["source"]): r["reason"] for r in catalogue.read(HERE / "differences.tsv")}
    report, clocks, rows = [], {}, []
    for fact in facts:
        status, reason = catalogue.status(fact)
        row = {**fact, "status": status, "reason": reason, "sha256": ""}
        if catalogue.has_table(fact):
            terms = clocks[fact["id"]] = sources.read_clock(wheels, fact)
            report += _compare(wheels, fact, terms, known)
            row["n_features"] = str(len({t.feature for t in terms if t.op in ("", "square")}))
            row["sha256"] = tables.digest(terms)
        rows.append(row)
    catalogue.write(out / "catalog.tsv", catalogue.COLUMNS, rows)
    tables.write_weights(out / "weights.parquet", clocks)
    report += _write_rest(wheels, out, {f["id"]: f for f in facts}, clocks)
    report += [f"differences.tsv explains what is not there: {clock}, {source}" for clock, source in known]
    statuses = Counter(r["status"] for r in rows)
    return [*report, f"{len(rows)} clocks: " + ", ".join(f"{n} {s}" for s, n in statuses.most_common())]


def _compare(
    wheels: Wheels, fact: catalogue.Fact, terms: list[sources.Row], known: dict[tuple[str, str], str]
) -> list[str]:
    lines = [f"{fact['id']}: DISAGREES: {line}" for line in checks.facts(fact, terms)]
    for copy in checks.compare(wheels, fact, terms):
        reason = known.pop((fact["id"], copy.source), "")
        if copy.words:
            lines.append(f"{fact['id']}: {copy.source}: {copy.words}; {reason or 'NOT EXPLAINED'}")
        else:
            lines.append(f"{fact['id']}: {copy.source}: same within {copy.largest:.1e}")
    return lines


def _write_rest(
    wheels: Wheels, out: Path, facts: dict[str, catalogue.Fact], clocks: dict[str, list[sources.Row]]
) -> list[str]:
    human = [rows for clock, rows in clocks.items() if facts[clock]["species"] == "human"]
    human += [sources.read_table(wheels, source, {}) for source in ALSO_REFERENCE]
    wanted = {t.feature for rows in human for t in rows if t.op in ("", "square")}
    n_medians = tables.write_medians(out / "reference_450k.parquet", wheels.read(tables.MEDIANS), wanted)
    n_species = tables.write_species(out / "species.tsv", wheels.read(tables.SPECIES), HERE / "common_names.tsv")
    for name in ("references.tsv", "ambiguous.tsv"):
        shutil.copyfile(HERE / name, out / name)
    n_terms = sum(map(len, clocks.values()))
    return [f"{n_terms} terms of {len(clocks)} clocks, {n_medians} of {len(wanted)} medians, {n_species} species"]


def main(argv: Sequence[str] | None = None) -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--wheels", type=Path, default=CACHE, help="folder of the downloaded wheels (default: %(default)s)"
    )
    parser.add_argument("--out", type=Path, default=DATA, help="folder to write (default: %(default)s)")
    options = parser.parse_args(argv)
    print("\n".join(build(Wheels(options.wheels), options.out)))


if __name__ == "__main__":
    main()
