"""Small Office files written by hand, part by part, so that a test shows all that is in them."""

import io
import zipfile

WORD = 'xmlns:w="w" xmlns:r="r" xmlns:m="m" xmlns:wp="wp" xmlns:a="a" xmlns:c="c" xmlns:dgm="dgm" xmlns:mc="mc" xmlns:wps="wps" xmlns:v="v"'
SLIDE = 'xmlns:p="p" xmlns:a="a" xmlns:r="r" xmlns:c="c" xmlns:dgm="dgm"'
SHEET = 'xmlns="s" xmlns:r="r"'


def zipped(parts: dict[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP file of these members."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return kept.getvalue()


def relations(**targets: str) -> str:
    """A part of relationships; the kind is the id without its number, an address with :// is outside."""
    rows = "".join(
        f'<Relationship Id="{key}" Type="http://x/{key.rstrip("0123456789")}" Target="{target}"'
        f"{' TargetMode=' + chr(34) + 'External' + chr(34) if '://' in target else ''}/>"
        for key, target in targets.items()
    )
    return f"<Relationships>{rows}</Relationships>"


def word(body: str, parts: dict[str, str | bytes] | None = None, **targets: str) -> bytes:
    """A .docx with this body."""
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(officeDocument="word/document.xml"),
            "word/document.xml": f"<w:document {WORD}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations(**targets),
        }
        | (parts or {})
    )


def para(text: str, properties: str = "") -> str:
    """A paragraph of Word."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def slides(*shapes: str, parts: dict[str, str | bytes] | None = None, **targets: str) -> bytes:
    """A .pptx with a slide for each of `shapes`; `targets` are the relationships of the first."""
    names = {f"slide{n}": f"slides/slide{n}.xml" for n in range(1, len(shapes) + 1)}
    made: dict[str, str | bytes] = {
        f"ppt/slides/slide{n}.xml": f"<p:sld {SLIDE}><p:cSld><p:spTree>{each}</p:spTree></p:cSld></p:sld>"
        for n, each in enumerate(shapes, 1)
    }
    listed = "".join(f'<p:sldId id="{256 + n}" r:id="slide{n}"/>' for n in range(1, len(shapes) + 1))
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(officeDocument="ppt/presentation.xml"),
            "ppt/presentation.xml": f"<p:presentation {SLIDE}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations(**names),
            "ppt/slides/_rels/slide1.xml.rels": relations(**targets),
        }
        | made
        | (parts or {})
    )


def shape(*lines: str, place: str = "") -> str:
    """A shape of PowerPoint with these paragraphs."""
    held = "".join(f"<a:p><a:r><a:t>{line}</a:t></a:r></a:p>" for line in lines)
    kind = f'<p:ph type="{place}"/>' if place else ""
    return f"<p:sp><p:nvSpPr><p:cNvPr id='1' name='x'/><p:nvPr>{kind}</p:nvPr></p:nvSpPr><p:txBody>{held}</p:txBody></p:sp>"
