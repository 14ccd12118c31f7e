# SPDX-License-Identifier: Apache-2.0
"""The code blocks of the guide, as they are printed, and the one mechanical repair of each.

Some blocks are not valid Python as printed, and all have placeholders.  Each block is listed with
the hash of its text and the exact replacements that make it run; a replacement is of one of a few
kinds, and what a kind may do is checked.  So a block that changed, a further edit, or a cleverer
one fails the test.
"""
import hashlib
import os
import re
from pathlib import Path

GUIDE = Path(os.environ.get("YARD_GUIDES") or
             Path(__file__).resolve().parents[4] / "shared" / "guides") / "2-pai-sdk.rst"


def read_blocks():
    """[(language, text)] in the order of the guide."""
    blocks, lines, at = [], GUIDE.read_text(encoding="utf-8").splitlines(), 0
    while at < len(lines):
        m = re.match(r"\.\. code-block:: (\w+)$", lines[at])
        at += 1
        if not m:
            continue
        body = []
        while at < len(lines) and (not lines[at].strip() or lines[at].startswith("    ")):
            body.append(lines[at][4:])
            at += 1
        blocks.append((m.group(1), "\n".join(body).strip("\n") + "\n"))
    return blocks


def digest(text):
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]


def comma(line):
    """A comma that is missing at the end of a line, counted from 1."""
    return ("comma", line, None)


def name(old, new):
    """A misspelt name, or a result that is not kept."""
    return ("name", old, new)


def value(old, key):
    """A placeholder, replaced by what the test has under key."""
    return ("value", old, key)


def imports(*modules):
    """Modules that the block uses and does not import: before its first line."""
    return ("imports", modules, None)


# What a replacement of a kind may look like, old and new.
NAMES = {("estimator.fits(", "estimator.fit("),
         ("estimator.tensorboard()", "tensorboard = estimator.tensorboard()")}
PLACEHOLDER = re.compile(r"oss://<\w+>$|<\w+>$|/data/to/test/data$|"
                         r"# more arguments for estimator\.\.$")


def repaired(block, repairs, values):
    """The block with its repairs and no other change."""
    lines = block.split("\n")
    for kind, what, new in repairs:
        if kind == "comma":
            assert re.search(r"[\w\">]$", lines[what - 1]), "no comma is missing in line %d" % what
            lines[what - 1] += ","
    text = "\n".join(lines)
    for kind, what, new in repairs:
        if kind == "name":
            assert (what, new) in NAMES and text.count(what) == 1
            text = text.replace(what, new)
        elif kind == "value":
            assert PLACEHOLDER.match(what) and what in text, what
            text = text.replace(what, values[new])
        elif kind == "imports":
            assert all(re.match(r"\w+$", m) and "import %s\n" % m not in text for m in what)
            text = "".join("import %s\n" % m for m in what) + text
    return text


class Block:
    """One block of the guide: a word for it, the hash of its text, its repairs."""

    def __init__(self, word, digest_, *repairs):
        self.word, self.digest, self.repairs = word, digest_, repairs


BUCKET = value("oss://<YourOssBucket>", "bucket")
TABLE = [
    Block("overview", "ddcd610c35f7670d", comma(5), comma(6), comma(7),
          value("<LaunchCommand>", "command"), value("<SourceCodeDirectory>", "source"),
          value("<TrainingImageUri>", "image"), value("<TrainingInstanceType>", "type"), BUCKET),
    Block("script", "dad3f6da881e03a0", imports("json", "os")),
    Block("hyperparameters.json", "b4e7c5b8acd89919"),
    Block("inputs", "24cb568a25fd541f", name("estimator.fits(", "estimator.fit("), BUCKET),
    Block("images", "ee927eec32493646"),
    Block("requirements tree", "97916b6039471e52"),
    Block("run", "7fab360355f34477"),
    Block("tensorboard script", "9565f60a19b1e4c0"),
    Block("tensorboard", "86dbce36aa1e6586",
          name("estimator.tensorboard()", "tensorboard = estimator.tensorboard()"),
          value("<TrainingImageUri>", "image"), value("<TrainingInstanceType>", "type")),
    Block("local", "358dbbcee498ee6b", value("oss://<BucketName>", "local_bucket"),
          value("/data/to/test/data", "test_data")),
    Block("PAI_HPS_ variables", "d0cf68b976aba504"),
    Block("PAI_HPS_ command", "2c6c500cc47ca711",
          value("# more arguments for estimator..", "more")),
    Block("PAI_USER_ARGS variable", "48f58427dd7a766e"),
    Block("PAI_USER_ARGS command", "a7492b9bc3e2dca5", comma(5),
          value("# more arguments for estimator..", "more")),
    Block("PAI_HPS variable", "53b53aa5d37ff840"),
    Block("PAI_INPUT variables", "0d4b7ee4df7fd3fa"),
    Block("PAI_OUTPUT variables", "534e0830acf830ac"),
    Block("folders", "e619b7e3bf80011e"),
]
