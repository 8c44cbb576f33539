"""Write the sample library's two PDFs and two spreadsheets: `python scripts/make_library.py [folder]`.

Their contents are the texts below, so that a fact is corrected here and the files are made again. The same
sources give the same bytes, whenever they are made.
"""

import io
import re
import sys
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from fpdf import FPDF
from fpdf.enums import XPos, YPos
from openpyxl import Workbook
from openpyxl.styles import Font

EPOCH = datetime(2025, 1, 1, tzinfo=UTC)

# A line of these texts is a heading ("# ", "## "), a row of a table ("|"), or a paragraph.
VOYAGER = """
# The Voyager missions
Voyager 1 and Voyager 2 are two space probes of NASA that were launched in 1977 to visit the outer planets. Both Voyager probes have left the region of the solar wind and travel between the stars.
## Launch
Voyager 2 was launched first, on 20 August 1977. Voyager 1 was launched on 5 September 1977. Voyager 1 flew a faster path and overtook Voyager 2. Both probes were launched from Cape Canaveral in Florida. The outer planets stood in a rare position in the late 1970s, which allowed one probe to fly from planet to planet with the help of their gravity.
## Visits to the planets
| Planet | Voyager 1 | Voyager 2
| Jupiter | March 1979 | July 1979
| Saturn | November 1980 | August 1981
| Uranus | no visit | January 1986
| Neptune | no visit | August 1989
Voyager 1 discovered the rings of Jupiter and saw active volcanoes on Io, a moon of Jupiter, in March 1979. Voyager 1 flew close to Titan, the largest moon of Saturn, in November 1980. Voyager 2 is the only spacecraft that has visited Uranus and Neptune. Voyager 2 found geysers on Triton, the largest moon of Neptune.
## The spacecraft
Each Voyager probe has a mass of about 720 kg. Each Voyager probe has a dish antenna 3.7 metres wide. The Voyager probes are powered by the heat of plutonium, because sunlight is too weak so far from the Sun. The signals of the Voyager probes are received by the Deep Space Network, whose stations stand in California, Spain and Australia.
## Pale Blue Dot
Voyager 1 took the picture called Pale Blue Dot on 14 February 1990. The Pale Blue Dot shows Earth as a tiny point from a distance of about 6 billion km. The astronomer Carl Sagan had asked for this picture. The cameras of Voyager 1 were then switched off to save power.
## Between the stars
Voyager 1 became the most distant object made by people in February 1998, when it passed Pioneer 10. Voyager 1 entered interstellar space in August 2012 and was the first spacecraft to do so. Voyager 2 entered interstellar space in November 2018.
## The Golden Record
Each Voyager probe carries a Golden Record, a gold-plated copper disc with sounds and pictures of Earth. The Golden Record of Voyager carries spoken greetings in 55 languages. The Golden Record carries 90 minutes of music and more than 100 pictures. A committee led by Carl Sagan chose the contents of the Golden Record.
The music of the Golden Record includes three pieces by Johann Sebastian Bach, two pieces by Ludwig van Beethoven and an aria from The Magic Flute by Wolfgang Amadeus Mozart. The Golden Record also includes the song Johnny B. Goode by Chuck Berry.
The cover of the Golden Record shows how to play the disc and where the Sun lies among pulsars. The sounds of the Golden Record include wind, rain, birds, whales and a heartbeat.
"""

PRINTING = """
# The history of printing
Printing is the making of many copies of a text or picture from one original. Printing made books cheap and spread knowledge faster than copying by hand.
## Printing in East Asia
Printing with carved blocks of wood began in China. The Diamond Sutra, printed in China in the year 868, is the oldest printed book with a date that survives. Bi Sheng invented movable type of baked clay in China in about 1040. The Jikji, printed in Korea in 1377, is the oldest surviving book printed with movable metal type.
## Johannes Gutenberg
Johannes Gutenberg of Mainz in Germany developed printing with metal type and a press in about 1450. The Gutenberg Bible was printed in Mainz and was finished in about 1455. The Gutenberg Bible has 42 lines on most of its pages. About 180 copies of the Gutenberg Bible were printed, and about 49 of them survive, many of them incomplete.
Gutenberg cast his letters from a metal alloy of lead, tin and antimony. Gutenberg used an ink based on oil, which sticks to metal better than ink based on water.
## Printing spreads
William Caxton set up the first printing press of England at Westminster in 1476. Aldus Manutius of Venice published small, handy books and introduced italic type in about 1501. The first printed newspaper is usually said to be the Relation, which Johann Carolus published in Strasbourg from 1605. The first book printed in what is now the United States was the Bay Psalm Book of 1640.
## Machines
| Year | Step | Person
| 1796 | lithography, printing from stone | Alois Senefelder
| 1814 | steam-driven press at The Times of London | Friedrich Koenig
| 1843 | rotary press | Richard March Hoe
| 1886 | Linotype typesetting machine | Ottmar Mergenthaler
| 1938 | xerography, dry copying | Chester Carlson
Alois Senefelder invented lithography in 1796; he used it first to print plays and music. Friedrich Koenig built the steam-driven press on which The Times of London was printed from 29 November 1814 on. Ottmar Mergenthaler invented the Linotype machine, which cast a whole line of type at once; it was first used by the New York Tribune in July 1886.
## Copying and digital printing
Chester Carlson made the first copy by xerography in Astoria, New York, on 22 October 1938. The first successful office copier of this kind was the Xerox 914, presented in 1959. The laser printer was developed at Xerox in the 1970s.
## Words of printing
Upper case and lower case letters have these names because printers kept capital letters in the upper case and small letters in the lower case of their type. A point, the unit for the size of type, is one seventy-second of an inch in computer typesetting. A font was once a set of metal letters cast together.
A colophon is a note at the end of a book that says who printed it, where and when. Books printed in Europe before the year 1501 are called incunabula.
"""

ELEMENTS = """
Atomic number,Symbol,Element,Atomic weight,State at room temperature,Kind,Discovered,Discoverer
1,H,Hydrogen,1.008,gas,nonmetal,1766,Henry Cavendish
2,He,Helium,4.003,gas,noble gas,1868,Jules Janssen and Norman Lockyer
3,Li,Lithium,6.94,solid,alkali metal,1817,Johan August Arfwedson
4,Be,Beryllium,9.012,solid,alkaline earth metal,1798,Louis-Nicolas Vauquelin
5,B,Boron,10.81,solid,metalloid,1808,Humphry Davy; Gay-Lussac and Thénard
6,C,Carbon,12.011,solid,nonmetal,antiquity,
7,N,Nitrogen,14.007,gas,nonmetal,1772,Daniel Rutherford
8,O,Oxygen,15.999,gas,nonmetal,1774,Joseph Priestley; Carl Wilhelm Scheele
9,F,Fluorine,18.998,gas,halogen,1886,Henri Moissan
10,Ne,Neon,20.18,gas,noble gas,1898,William Ramsay and Morris Travers
11,Na,Sodium,22.99,solid,alkali metal,1807,Humphry Davy
12,Mg,Magnesium,24.305,solid,alkaline earth metal,1808,Humphry Davy
13,Al,Aluminium,26.982,solid,metal,1825,Hans Christian Ørsted
14,Si,Silicon,28.085,solid,metalloid,1824,Jöns Jacob Berzelius
15,P,Phosphorus,30.974,solid,nonmetal,1669,Hennig Brand
16,S,Sulfur,32.06,solid,nonmetal,antiquity,
17,Cl,Chlorine,35.45,gas,halogen,1774,Carl Wilhelm Scheele
18,Ar,Argon,39.95,gas,noble gas,1894,Lord Rayleigh and William Ramsay
19,K,Potassium,39.098,solid,alkali metal,1807,Humphry Davy
20,Ca,Calcium,40.078,solid,alkaline earth metal,1808,Humphry Davy
21,Sc,Scandium,44.956,solid,transition metal,1879,Lars Fredrik Nilson
22,Ti,Titanium,47.867,solid,transition metal,1791,William Gregor
23,V,Vanadium,50.942,solid,transition metal,1801,Andrés Manuel del Río
24,Cr,Chromium,51.996,solid,transition metal,1797,Louis-Nicolas Vauquelin
25,Mn,Manganese,54.938,solid,transition metal,1774,Johan Gottlieb Gahn
26,Fe,Iron,55.845,solid,transition metal,antiquity,
27,Co,Cobalt,58.933,solid,transition metal,1735,Georg Brandt
28,Ni,Nickel,58.693,solid,transition metal,1751,Axel Fredrik Cronstedt
29,Cu,Copper,63.546,solid,transition metal,antiquity,
30,Zn,Zinc,65.38,solid,transition metal,1746,Andreas Sigismund Marggraf (isolated it)
31,Ga,Gallium,69.723,solid,metal,1875,Paul-Émile Lecoq de Boisbaudran
32,Ge,Germanium,72.63,solid,metalloid,1886,Clemens Winkler
33,As,Arsenic,74.922,solid,metalloid,Middle Ages,Albertus Magnus (by tradition)
34,Se,Selenium,78.971,solid,nonmetal,1817,Jöns Jacob Berzelius
35,Br,Bromine,79.904,liquid,halogen,1826,Antoine Jérôme Balard
36,Kr,Krypton,83.798,gas,noble gas,1898,William Ramsay and Morris Travers
47,Ag,Silver,107.868,solid,transition metal,antiquity,
50,Sn,Tin,118.71,solid,metal,antiquity,
53,I,Iodine,126.904,solid,halogen,1811,Bernard Courtois
54,Xe,Xenon,131.293,gas,noble gas,1898,William Ramsay and Morris Travers
74,W,Tungsten,183.84,solid,transition metal,1783,Juan José and Fausto Elhuyar
79,Au,Gold,196.967,solid,transition metal,antiquity,
80,Hg,Mercury,200.592,liquid,transition metal,antiquity,
82,Pb,Lead,207.2,solid,metal,antiquity,
92,U,Uranium,238.029,solid,actinide,1789,Martin Heinrich Klaproth
"""

CAPITALS = """
Country,Capital,Continent of the capital,On the water,Standard time (hours from UTC)
Argentina,Buenos Aires,South America,Río de la Plata,-3:00
Australia,Canberra,Oceania,Lake Burley Griffin,+10:00
Austria,Vienna,Europe,Danube,+1:00
Belgium,Brussels,Europe,Senne,+1:00
Brazil,Brasília,South America,Lake Paranoá,-3:00
Canada,Ottawa,North America,Ottawa River,-5:00
Chile,Santiago,South America,Mapocho,-4:00
China,Beijing,Asia,,+8:00
Colombia,Bogotá,South America,,-5:00
Cuba,Havana,North America,Straits of Florida,-5:00
Czechia,Prague,Europe,Vltava,+1:00
Denmark,Copenhagen,Europe,Øresund,+1:00
Egypt,Cairo,Africa,Nile,+2:00
Ethiopia,Addis Ababa,Africa,,+3:00
Finland,Helsinki,Europe,Gulf of Finland,+2:00
France,Paris,Europe,Seine,+1:00
Germany,Berlin,Europe,Spree,+1:00
Greece,Athens,Europe,,+2:00
Hungary,Budapest,Europe,Danube,+1:00
Iceland,Reykjavik,Europe,Faxaflói,0:00
India,New Delhi,Asia,Yamuna,+5:30
Iraq,Baghdad,Asia,Tigris,+3:00
Ireland,Dublin,Europe,Liffey,0:00
Italy,Rome,Europe,Tiber,+1:00
Japan,Tokyo,Asia,Tokyo Bay,+9:00
Kenya,Nairobi,Africa,Nairobi River,+3:00
Mexico,Mexico City,North America,,-6:00
Mongolia,Ulaanbaatar,Asia,Tuul,+8:00
Nepal,Kathmandu,Asia,Bagmati,+5:45
Netherlands,Amsterdam,Europe,Amstel and IJ,+1:00
New Zealand,Wellington,Oceania,Wellington Harbour,+12:00
Nigeria,Abuja,Africa,,+1:00
Norway,Oslo,Europe,Oslofjord,+1:00
Peru,Lima,South America,Rímac,-5:00
Poland,Warsaw,Europe,Vistula,+1:00
Portugal,Lisbon,Europe,Tagus,0:00
Romania,Bucharest,Europe,Dâmbovița,+2:00
Russia,Moscow,Europe,Moskva,+3:00
Serbia,Belgrade,Europe,Danube and Sava,+1:00
Slovakia,Bratislava,Europe,Danube,+1:00
South Korea,Seoul,Asia,Han,+9:00
Spain,Madrid,Europe,Manzanares,+1:00
Sudan,Khartoum,Africa,Blue Nile and White Nile,+2:00
Sweden,Stockholm,Europe,Lake Mälaren and Baltic Sea,+1:00
Thailand,Bangkok,Asia,Chao Phraya,+7:00
Turkey,Ankara,Asia,,+3:00
United Kingdom,London,Europe,Thames,0:00
United States,Washington D.C.,North America,Potomac,-5:00
Vietnam,Hanoi,Asia,Red River,+7:00
"""

MOVED_CAPITALS = """
Country,Old capital,New capital,Year of the move
United States,Philadelphia,Washington D.C.,1800
Finland,Turku,Helsinki,1812
Greece,Nafplio,Athens,1834
Italy,Florence,Rome,1871
Russia,Saint Petersburg,Moscow,1918
Turkey,Istanbul,Ankara,1923
Australia,Melbourne,Canberra,1927
Brazil,Rio de Janeiro,Brasília,1960
Belize,Belize City,Belmopan,1970
Malawi,Zomba,Lilongwe,1975
Côte d'Ivoire,Abidjan,Yamoussoukro,1983
Nigeria,Lagos,Abuja,1991
Kazakhstan,Almaty,Astana,1997
"""


class Paper(FPDF):
    """A page of plain text with its number at the foot."""

    def footer(self) -> None:
        self.set_y(-15)
        self.set_font("Times", "I", 9)
        self.cell(0, 10, f"{self.title} - page {self.page_no()}", align="C")


def pdf(text: str) -> bytes:
    """The text as a PDF with a text layer, one size of page, headings as bookmarks."""
    lines = text.strip().splitlines()
    paper = Paper(format=(148, 210))
    paper.set_creation_date(EPOCH)
    paper.set_title(lines[0].removeprefix("# "))
    paper.set_lang("en")
    paper.add_page()
    rows: list[list[str]] = []
    for line in [*lines, ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.split("|")[1:]])
            continue
        if rows:
            paper.set_font("Times", size=10)
            with paper.table(rows, text_align="LEFT", line_height=5):
                pass
            paper.ln(3)
            rows = []
        if not line:
            continue
        heading = re.match(r"(#+) (.*)", line)
        if heading:
            level = len(heading[1])
            if paper.will_page_break(40):
                paper.add_page()
            paper.set_font("Times", "B", {1: 18, 2: 13}[level])
            paper.start_section(heading[2], level - 1)
        else:
            paper.set_font("Times", size=11)
        paper.multi_cell(
            0, 6, heading[2] if heading else line, align="L", new_x=XPos.LMARGIN, new_y=YPos.NEXT
        )
        paper.ln(2)
    return bytes(paper.output())


def spreadsheet(title: str, sheets: dict[str, str]) -> bytes:
    """A workbook with one sheet for each comma-separated text; whole and decimal numbers become numbers."""
    book = Workbook()
    book.remove(book.worksheets[0])
    book.properties.title = title
    book.properties.creator = "Open Deep Research"
    book.properties.created = EPOCH.replace(tzinfo=None)
    for name, text in sheets.items():
        sheet = book.create_sheet(name)
        for line in text.strip().splitlines():
            sheet.append([_value(cell) for cell in line.split(",")])
        for column in sheet.iter_cols():
            column[0].font = Font(bold=True)
            sheet.column_dimensions[column[0].column_letter].width = 22
        sheet.freeze_panes = "A2"
    made = io.BytesIO()
    book.save(made)
    return _without_the_clock(made.getvalue())


def _value(cell: str) -> str | int | float | None:
    if re.fullmatch(r"\d+(\.\d+)?", cell):
        return float(cell) if "." in cell else int(cell)
    return cell or None


def _without_the_clock(archive: bytes) -> bytes:
    # openpyxl writes the time of saving into the properties and into each entry of the archive.
    fixed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(fixed, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename == "docProps/core.xml":
                stamp = EPOCH.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
                content = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + stamp, content)
            new.writestr(
                zipfile.ZipInfo(entry.filename, EPOCH.timetuple()[:6]), content, zipfile.ZIP_DEFLATED
            )
    return fixed.getvalue()


def main(folders: Iterable[str]) -> None:
    """Write the four files into the given folder, or into the library of this project."""
    folder = Path(next(iter(folders), Path(__file__).parent.parent / "library"))
    for path, content in {
        "space/voyager.pdf": pdf(VOYAGER),
        "culture/printing.pdf": pdf(PRINTING),
        "science/elements.xlsx": spreadsheet("Table of elements", {"Elements": ELEMENTS}),
        "earth/capitals.xlsx": spreadsheet(
            "Capitals of the world", {"Capitals": CAPITALS, "Moved capitals": MOVED_CAPITALS}
        ),
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


if __name__ == "__main__":
    main(sys.argv[1:])
