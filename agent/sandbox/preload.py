"""The modules that a box loads before it is locked and takes code."""

_ALWAYS = """
numpy pandas datetime collections itertools statistics random
"""

# What could be imported only from files, where files cannot be opened any more.
_BEFORE_FILES_ARE_SHUT = """
array ast asyncio base64 bisect bz2 calendar cmath colorsys contextlib copy csv ctypes dataclasses decimal difflib
email.message enum fcntl fractions functools getpass glob graphlib gzip hashlib heapq hmac html.entities html.parser
http.client imaplib inspect io ipaddress json keyword linecache locale logging lzma math mimetypes numbers operator os
pathlib pickle pprint queue re reprlib resource secrets shlex shutil signal socket sqlite3 string struct subprocess
tempfile textwrap threading timeit traceback types typing unicodedata unittest urllib.request uuid warnings weakref
xml.etree.ElementTree zipfile zlib zoneinfo
encodings.ascii encodings.cp1252 encodings.idna encodings.latin_1 encodings.utf_16 encodings.utf_8_sig
bs4 dateutil.parser dateutil.relativedelta lxml.etree lxml.html numpy.polynomial openpyxl pandas.plotting
PIL.BmpImagePlugin PIL.GifImagePlugin PIL.ImageDraw PIL.ImageFilter PIL.ImageOps PIL.JpegImagePlugin PIL.PngImagePlugin
PIL.PpmImagePlugin networkx
"""


def preload_for(level: int) -> tuple[str, ...]:
    """What a box of this level loads ahead, in order; what is not installed is left out there."""
    if level == 3:
        return "pydantic_monty", "pandas"  # the code sees neither; tables come from the tools as pandas'
    return tuple((_ALWAYS + _BEFORE_FILES_ARE_SHUT if level == 2 else _ALWAYS).split())
