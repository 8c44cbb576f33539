"""The modules that a box loads before it is locked and takes code."""

_ALWAYS = """
numpy pandas datetime collections itertools statistics random
"""

# Where files cannot be opened any more: what is more than one file of Python code, which the host sends when asked.
_BINARIES = """
_bisect _blake2 _bz2 _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _contextvars _csv
_ctypes _datetime _decimal _elementtree _hashlib _heapq _json _lsprof _lzma _md5 _multibytecodec _opcode _pickle
_posixsubprocess _queue _random _sha1 _sha2 _sha256 _sha3 _sha512 _socket _sqlite3 _statistics _struct _uuid _zoneinfo
array audioop binascii cmath fcntl grp math mmap pyexpat resource select termios unicodedata zlib
numpy.fft numpy.linalg numpy.random lxml.etree contourpy kiwisolver
PIL.Image PIL.PngImagePlugin PIL._imagingft PIL._imagingmath PIL._imagingmorph PIL._webp
matplotlib.font_manager matplotlib.style matplotlib._c_internal_utils matplotlib._image matplotlib._path
matplotlib._qhull matplotlib._tri matplotlib.backends._backend_agg
"""

# The same behind a command, where the host's files would not fit: all that the code is likely to import.
_LIKELY = """
array ast asyncio base64 bisect bz2 calendar cmath colorsys contextlib copy csv ctypes dataclasses decimal difflib
email.message enum fcntl fractions functools getpass glob graphlib gzip hashlib heapq hmac html.entities html.parser
http.client imaplib inspect io ipaddress json keyword linecache locale logging lzma math mimetypes numbers operator os
pathlib pickle pprint queue re reprlib resource secrets shlex shutil signal socket sqlite3 string struct subprocess
tempfile textwrap threading timeit traceback types typing unicodedata unittest urllib.request uuid warnings weakref
xml.etree.ElementTree zipfile zlib zoneinfo
encodings.ascii encodings.cp1252 encodings.cp437 encodings.idna encodings.latin_1 encodings.utf_16 encodings.utf_8_sig
bs4 dateutil.parser dateutil.relativedelta lxml.etree lxml.html numpy.polynomial openpyxl pandas.plotting pandas.io.formats.csvs
PIL.BmpImagePlugin PIL.GifImagePlugin PIL.ImageDraw PIL.ImageFilter PIL.ImageOps PIL.JpegImagePlugin PIL.PngImagePlugin
PIL.PpmImagePlugin networkx
"""


def preload_for(level: int, served: bool = True) -> tuple[str, ...]:
    """What a box of this level loads ahead, in order; what is not installed is left out there.

    served: the host sends modules to a box that cannot open their files.
    """
    if level == 3:
        return ("pydantic_monty",)  # which the code does not see; the first table of a tool loads pandas
    files_are_shut = _BINARIES if served else _LIKELY
    return tuple((_ALWAYS + files_are_shut if level == 2 else _ALWAYS).split())
