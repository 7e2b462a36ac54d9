"""PDFs made to keep a reader busy, to fill its memory or to break it: by name, the bytes of each."""

import zlib
from collections.abc import Callable, Mapping

PAGE = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
TEXT = b"BT /F1 12 Tf 72 700 Td (Q1 How happy are you?) Tj ET"
Parts = Mapping[int, bytes]


def stream(content: bytes, keys: bytes = b"") -> bytes:
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(content), keys, content)


def packed(content: bytes, keys: bytes = b"", times: int = 1) -> bytes:
    """A stream that was deflated so many times, and names as many filters."""
    for _ in range(times):
        content = zlib.compress(content, 9)
    return stream(content, keys + b"/Filter[%s]" % (b"/FlateDecode" * times))


def pdf(parts: Parts, trailer: bytes = b"", first_xref: int | None = None) -> bytes:
    """A PDF of one page with a line of text, some of whose numbered parts are others."""
    whole = {
        1: b"<</Type/Catalog/Pages 2 0 R>>",
        2: b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        3: PAGE,
        4: stream(TEXT),
        5: FONT,
    } | dict(parts)
    written, offsets = b"%PDF-1.7\n", {}
    for number, content in sorted(whole.items()):
        offsets[number] = len(written)
        written += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"xref\n0 1\n0000000000 65535 f \n"
    table += b"".join(b"%d 1\n%010d 00000 n \n" % each for each in offsets.items())
    start = len(written) if first_xref is None else first_xref
    end = b"trailer\n<</Size %d/Root 1 0 R%s>>\n" % (max(whole) + 1, trailer)
    return written + table + end + b"startxref\n%d\n%%%%EOF\n" % start


def of_page(resources: bytes = b"", keys: bytes = b"", **parts: bytes) -> bytes:
    """A PDF whose page has these resources beside its font, and these keys; parts are `_6=...`."""
    page = PAGE.replace(b"5 0 R>>", b"5 0 R>>" + resources)[:-2] + keys + b">>"
    return pdf({3: page} | {int(name[1:]): content for name, content in parts.items()})


def with_content(content: bytes, **more: bytes) -> bytes:
    return of_page(_4=stream(content), **more)


def many_pages(count: int) -> bytes:
    kids = b" ".join(b"%d 0 R" % number for number in range(10, 10 + count))
    parts = dict.fromkeys(range(10, 10 + count), PAGE)
    return pdf({2: b"<</Type/Pages/Count %d/Kids[%s]>>" % (count, kids)} | parts)


def deep_pages(depth: int) -> bytes:
    nodes = {
        number: b"<</Type/Pages/Count 1/Parent %d 0 R/Kids[%d 0 R]>>" % (number - 1, number + 1)
        for number in range(10, 10 + depth)
    }
    return pdf({2: b"<</Type/Pages/Count 1/Kids[10 0 R]>>", 10 + depth: PAGE} | nodes)


def doubling_pages(depth: int) -> bytes:
    """Each node of the page tree has the next one twice."""
    nodes = {
        number: b"<</Type/Pages/Count 1/Kids[%d 0 R %d 0 R]>>" % (number + 1, number + 1)
        for number in range(10, 10 + depth)
    }
    return pdf({2: b"<</Type/Pages/Count 1/Kids[10 0 R 10 0 R]>>", 10 + depth: PAGE} | nodes)


def doubling_forms(depth: int) -> bytes:
    """Each drawing draws the next one twice."""
    keys = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]"
    drawings = {
        f"_{number}": stream(b"/X Do /X Do", keys + b"/Resources<</XObject<</X %d 0 R>>>>" % (number + 1))
        for number in range(10, 10 + depth)
    }
    last = {f"_{10 + depth}": stream(TEXT, keys + b"/Resources<</Font<</F1 5 0 R>>>>")}
    return of_page(b"/XObject<</X 10 0 R>>", _4=stream(TEXT + b" /X Do"), **drawings, **last)


def with_font(font: bytes, **parts: bytes) -> bytes:
    return of_page(_5=font, **parts)


def with_cmap(cmap: bytes, **parts: bytes) -> bytes:
    font = b"<</Type/Font/Subtype/TrueType/BaseFont/Helvetica/ToUnicode 6 0 R>>"
    return with_font(font, **({"_6": stream(cmap)} | parts))


def object_stream(pairs: bytes, count: int, extra: bytes = b"") -> bytes:
    """A PDF whose parts are said to lie in the object stream 6, by an xref stream."""
    body = b"%PDF-1.7\n"
    place = len(body)
    body += b"6 0 obj\n%s\nendobj\n" % packed(pairs, b"/Type/ObjStm/N %d/First 40%s" % (count, extra))
    rows = b"".join(bytes([2, 0, 6, number]) for number in range(6))
    rows += bytes([1]) + place.to_bytes(2, "big") + b"\0"
    start = len(body)
    keys = b"/Type/XRef/Size 7/Root 1 0 R/W[1 2 1]"
    body += b"7 0 obj\n%s\nendobj\n" % stream(rows, keys)
    return body + b"startxref\n%d\n%%%%EOF\n" % start


ZEROS = 400 * 2**20
CMAP = b"begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange %s endcmap"
SELF_FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 6 0 R>>>>"
WIDE = b"<</Type/Font/Subtype/Type0/BaseFont/A/Encoding/Identity-H/DescendantFonts[%s]>>"

PDFS: dict[str, Callable[[], bytes]] = {
    "a page tree that refers to itself": lambda: pdf({2: b"<</Type/Pages/Count 1/Kids[2 0 R]>>"}),
    "pages that are each other's parents": lambda: pdf(
        {2: b"<</Type/Pages/Count 1/Kids[6 0 R]>>", 6: b"<</Type/Pages/Count 1/Kids[2 0 R]>>"}
    ),
    "a page that is its own parent": lambda: pdf(
        {3: PAGE.replace(b"2 0 R", b"3 0 R").replace(b"/MediaBox[0 0 595 842]", b"")}
    ),
    "a page tree 3,000 deep": lambda: deep_pages(3000),
    "a page tree that doubles 40 times": lambda: doubling_pages(40),
    "a length that is its own stream": lambda: pdf({4: b"<</Length 4 0 R>>stream\n%s\nendstream" % TEXT}),
    "references that go round": lambda: pdf({3: PAGE.replace(b"[0 0 595 842]", b" 6 0 R"), 6: b"7 0 R", 7: b"6 0 R"}),
    "a catalog that is a number": lambda: pdf({1: b"7"}),
    "pages that are text": lambda: pdf({2: b"<</Type/Pages/Count 1/Kids(abc)>>"}),
    "arrays 100,000 deep": lambda: pdf({3: PAGE[:-2] + b"/A " + b"[" * 100_000 + b"]" * 100_000 + b">>"}),
    "dictionaries 100,000 deep": lambda: pdf({3: PAGE[:-2] + b"/A " + b"<</A" * 100_000 + b" 1" + b">>" * 100_001}),
    "arrays in a page's content 100,000 deep": lambda: with_content(b"[" * 100_000 + b"]" * 100_000 + TEXT),
    "a content of 400 MiB": lambda: pdf({4: packed(bytes(ZEROS))}),
    "a content of 400 MiB packed twice": lambda: pdf({4: packed(bytes(ZEROS), times=2)}),
    "a content of 1 GiB of blanks, twenty times": lambda: of_page(
        keys=b"/Contents[%s]" % (b"6 0 R " * 20), _6=packed(b" " * ZEROS)
    ),
    "five million words": lambda: pdf({4: packed(b"BT /F1 9 Tf 9 9 Td " + b"(word ) Tj " * 5_000_000 + b"ET")}),
    "words one on the other, 200,000": lambda: pdf(
        {4: packed(b"BT /F1 9 Tf " + b"(a b) Tj -9 0 Td " * 200_000 + b"ET")}
    ),
    "words of one letter, 100,000 on a page": lambda: pdf(
        {4: packed(b"BT /F1 1 Tf 9 9 Td " + (b"(a) Tj 2 0 Td " * 300 + b"-600 2 Td ") * 350 + b"ET")}
    ),
    "a word of 300,000 letters": lambda: with_content(b"BT /F1 .001 Tf 9 9 Td (" + b"v1" * 150_000 + b") Tj ET"),
    "words further away than numbers go": lambda: with_content(
        TEXT + b" BT /F1 12 Tf 1" + b"0" * 400 + b" 700 Td (far) Tj ET"
    ),
    "a million rules": lambda: pdf({4: packed(TEXT + b" 1 1 100 1 re f" * 1_000_000)}),
    "a path of a million points": lambda: pdf({4: packed(TEXT + b" 0 0 m" + b" 1 1 l" * 1_000_000 + b" S")}),
    "a million saved states": lambda: pdf({4: packed(b"q " * 1_000_000 + TEXT)}),
    "a drawing that draws itself": lambda: of_page(
        b"/XObject<</X 6 0 R>>", _4=stream(TEXT + b" /X Do"), _6=stream(b"/X Do", SELF_FORM)
    ),
    "drawings that draw each other": lambda: of_page(
        b"/XObject<</X 6 0 R>>",
        _4=stream(TEXT + b" /X Do"),
        _6=stream(b"/X Do", SELF_FORM.replace(b"6 0 R", b"7 0 R")),
        _7=stream(b"/X Do", SELF_FORM),
    ),
    "drawings that double 40 times": lambda: doubling_forms(40),
    "resources that are themselves": lambda: pdf({3: PAGE.replace(b"<</Font<</F1 5 0 R>>>>", b" 6 0 R"), 6: b"6 0 R"}),
    "an outline that goes round": lambda: pdf(
        {1: b"<</Type/Catalog/Pages 2 0 R/Outlines 6 0 R>>", 6: b"<</First 7 0 R/Last 7 0 R>>",
         7: b"<</Title(a)/Next 7 0 R/Parent 6 0 R/First 7 0 R>>"}
    ),
    "names that go round": lambda: pdf(
        {1: b"<</Type/Catalog/Pages 2 0 R/Names<</Dests 6 0 R>>>>", 6: b"<</Kids[6 0 R]>>"}
    ),
    "fields that go round": lambda: pdf(
        {1: b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R]>>>>", 6: b"<</Kids[6 0 R]/Parent 6 0 R/T(a)>>"}
    ),
    "metadata that go round": lambda: pdf({6: b"<</Title 6 0 R/Author[6 0 R]>>"}, b"/Info 6 0 R"),
    "a page of a million points": lambda: pdf({3: PAGE.replace(b"595 842", b"1000000 1000000")}),
    "a page of 1e30 points": lambda: pdf({3: PAGE.replace(b"595 842", b"1" + b"0" * 30 + b" 1" + b"0" * 30)}),
    "a page of no size": lambda: pdf({3: PAGE.replace(b"595 842", b"0 0")}),
    "a page whose size is text": lambda: pdf({3: PAGE.replace(b"[0 0 595 842]", b"[(a)(b)(c)(d)]")}),
    "20,000 pages": lambda: many_pages(20_000),
    "an xref that points nowhere": lambda: pdf({}, first_xref=10**9),
    "an xref that is its own predecessor": lambda: _own_predecessor(),
    "a number of parts that is huge": lambda: pdf({}).replace(
        b"0 1\n0000000000 65535 f", b"0 999999999\n0000000000 65535 f"
    ),
    "an xref stream of huge widths": lambda: object_stream(b" " * 50, 1).replace(b"/W[1 2 1]", b"/W[1 999999999 1]"),
    "an object stream that holds itself": lambda: object_stream(b"6 0 ".ljust(40) + b"6 0 R", 1),
    "an object stream of 400 MiB": lambda: object_stream(b"1 0 ".ljust(40) + bytes(ZEROS), 1),
    "an object stream of a billion parts": lambda: object_stream(b"1 0 ".ljust(40) + b"<</Pages 1 0 R>>", 10**9),
    "an object stream that extends itself": lambda: object_stream(b"1 0 ".ljust(40) + b"2", 1, b"/Extends 6 0 R"),
    "an unknown encryption": lambda: pdf({6: b"<</Filter/Other/V 9/R 9>>"}, b"/Encrypt 6 0 R/ID[(a)(a)]"),
    "an encryption without keys": lambda: pdf({6: b"<</Filter/Standard>>"}, b"/Encrypt 6 0 R"),
    "a ToUnicode that is its own font": lambda: with_font(
        b"<</Type/Font/Subtype/TrueType/BaseFont/A/ToUnicode 5 0 R>>"
    ),
    "a ToUnicode that uses itself": lambda: with_cmap(b"", _6=stream(CMAP % b"/X usecmap", b"/UseCMap 6 0 R")),
    "ToUnicode ranges of four billion": lambda: with_cmap(
        CMAP % b"1 beginbfrange <00000000> <ffffffff> <00000000> endbfrange"
    ),
    "a ToUnicode of a million ranges": lambda: with_cmap(
        b"", _6=packed(CMAP % (b"beginbfrange " + b"<0000> <ffff> <0000> " * 1_000_000 + b"endbfrange"))
    ),
    "a font whose descendant is itself": lambda: with_font(WIDE % b"5 0 R"),
    "widths of a billion characters": lambda: with_font(
        WIDE % b"6 0 R", _6=b"<</Type/Font/Subtype/CIDFontType2/BaseFont/A/W[0 999999999 500]>>"
    ),
    "differences of a huge number": lambda: with_font(
        b"<</Type/Font/Subtype/Type1/BaseFont/A/Encoding<</Differences[999999999999 /a (b) /c]>>>>"
    ),
    "a predictor of a huge row": lambda: pdf(
        {4: stream(zlib.compress(TEXT), b"/Filter/FlateDecode/DecodeParms<</Predictor 12/Columns 999999999999>>")}
    ),
    "a filter named a thousand times": lambda: pdf({4: stream(b"0" * 1000, b"/Filter[%s]" % (b"/AHx" * 1000))}),
    "a picture inside the content that does not end": lambda: with_content(
        TEXT + b" BI /W 1 /H 1 ID " + b"E" * 3_000_000
    ),
    "a string that does not end": lambda: with_content(b"BT (" * 300_000),
    "3 MB of bytes behind the header": lambda: b"%PDF-1.7\n" + b"1 0 obj <<" * 300_000,
    "NULs behind the header": lambda: b"%PDF-1.4\n" + bytes(5_000_000),
}  # fmt: skip
"""What is wrong with each, for people."""


def _own_predecessor() -> bytes:
    place = pdf({}).index(b"xref\n0 1")
    return pdf({}, b"/Prev %d" % place)
