"""Pictures, recordings and films: what the agent is told of them, with and without models that see and hear."""

import base64
import io
import json
import struct
import threading
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from agent.errors import SettingsError
from agent.senses import senses_of
from agent.settings import Settings
from tests.local_web import Answer, LocalWeb, Request
from tools.audio import Transcriber
from tools.browser import TextBrowser
from tools.errors import DocumentError, FetchError
from tools.fetch import Fetcher
from tools.formats.sound import sound_document
from tools.formats.source import Source
from tools.senses import Senses
from tools.served import Served
from tools.video import video_document
from tools.vision import VisionModel

JSON = {"Content-Type": "application/json"}
CHAT = "/v1/chat/completions"
WORDS = "/v1/audio/transcriptions"


def png(kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), "green").save(out, kind)
    return out.getvalue()


def wav(seconds: float = 2.0) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(b"\1\0" * int(8000 * seconds))
    return out.getvalue()


def said(text: str) -> Answer:
    """A chat completion, as OpenAI-compatible servers send it."""
    message = {"role": "assistant", "content": text}
    body = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "eye",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    return Answer(200, JSON, json.dumps(body))


def sees(web: LocalWeb, about: str = "", token: str = "key-123", seconds: float = 20) -> Senses:
    return Senses(
        vision=VisionModel(Served("vision model", web.url("/v1"), "eye", token, seconds)), about=about
    )


def hears(web: LocalWeb, token: str = "key-123") -> Senses:
    return Senses(speech=Transcriber(Served("transcription", web.url(""), "ear", token, 20)))


@pytest.fixture
def attach(tmp_path: Path) -> Callable[..., TextBrowser]:
    def make(name: str, content: bytes, senses: Senses | None = None, **more: Any) -> TextBrowser:
        (tmp_path / name).write_bytes(content)
        return TextBrowser(Fetcher(**more), files_dir=tmp_path, senses=senses)

    return make


def sent_picture(request: Request) -> tuple[dict[str, Any], str, bytes]:
    """The request, its words and the picture in it."""
    body = json.loads(request.body)
    words, picture = body["messages"][0]["content"]
    kind, _, data = picture["image_url"]["url"].partition(",")
    assert kind == "data:image/png;base64"
    return body, words["text"], base64.b64decode(data)


def test_an_attached_picture_is_looked_at_with_the_question(attach: Callable[..., TextBrowser]) -> None:
    with LocalWeb({CHAT: said("Four green bars.")}) as web:
        page = attach("bars.png", png(), sees(web)).visit_file("bars.png", "How many bars are there?")
    body, words, picture = sent_picture(web.requests[0])
    assert len(web.requests) == 1
    assert body["model"] == "eye" and "How many bars are there?" in words and picture == png()
    assert web.requests[0].headers["authorization"] == "Bearer key-123"
    assert "Four green bars." in page.text and "40 × 30" in page.text
    assert "may be wrong" in page.note


def test_another_question_about_the_same_picture_is_asked_anew(attach: Callable[..., TextBrowser]) -> None:
    def answer(request: Request) -> Answer:
        return said("Green." if "colour" in sent_picture(request)[1] else "Four.")

    with LocalWeb({CHAT: answer}) as web:
        browser = attach("bars.png", png(), sees(web))
        assert "Four." in browser.visit_file("bars.png", "How many?").text
        assert "Green." in browser.visit_file("bars.png", "Which colour?").text
        assert "Four." in browser.visit_file("bars.png", "How many?").text
    assert len(web.requests) == 2


def test_a_picture_of_the_web_is_looked_at_for_the_question_of_the_run() -> None:
    routes = {CHAT: said("A map of Mars."), "/map.png": Answer(200, {"Content-Type": "image/png"}, png())}
    with LocalWeb(routes) as web:
        browser = TextBrowser(Fetcher(allow_local=True), senses=sees(web, about="Where is Olympus Mons?"))
        assert "A map of Mars." in browser.visit(web.url("/map.png")).text
    assert "Where is Olympus Mons?" in sent_picture(web.requests[1])[1]


def test_without_a_vision_model_a_picture_has_its_size(attach: Callable[..., TextBrowser]) -> None:
    page = attach("bars.png", png()).visit_file("bars.png", "How many?")
    assert "40 × 30 pixels" in page.text and "takes a look" in page.note


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(401, JSON, '{"error": "bad key key-123"}'), "refused the token"),
        (Answer(429, JSON, "{}"), "too many requests"),
        (Answer(500, JSON, '{"error": "out of memory, key-123"}'), "answered 500"),
        (Answer(200, JSON, "<html>no JSON"), "not in the form"),
        (Answer(200, JSON, '{"choices": []}'), "not in the form"),
        (Answer(200, JSON, b"{}", seconds=3), "longer than 1 s"),
        (said("  "), "said nothing"),
    ],
)
def test_a_vision_model_that_fails_costs_one_sentence_and_no_secret(
    attach: Callable[..., TextBrowser], answer: Answer, why: str
) -> None:
    with LocalWeb({CHAT: answer}) as web:
        page = attach("bars.png", png(), sees(web, seconds=1)).visit_file("bars.png")
    assert "40 × 30" in page.text
    assert why in page.note and "key-123" not in page.note


def test_a_vision_model_that_is_down_is_told(attach: Callable[..., TextBrowser]) -> None:
    with LocalWeb({}) as web:
        pass
    assert "no connection" in attach("bars.png", png(), sees(web)).visit_file("bars.png").note


def test_a_stopped_run_does_not_wait_for_a_model(attach: Callable[..., TextBrowser]) -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    with LocalWeb({CHAT: Answer(200, JSON, "{}", seconds=5)}) as web:
        page = attach("bars.png", png(), sees(web), cancel=cancel).visit_file("bars.png")
    assert "the run was stopped" in page.note


def test_a_picture_of_a_kind_that_no_model_takes_is_not_sent(attach: Callable[..., TextBrowser]) -> None:
    with LocalWeb({CHAT: said("no")}) as web:
        page = attach("scan.tiff", png("TIFF"), sees(web)).visit_file("scan.tiff")
    assert not web.requests and "PIL" in page.note and "40 × 30" in page.text


def test_a_recording_is_transcribed(attach: Callable[..., TextBrowser]) -> None:
    with LocalWeb({WORDS: Answer(200, JSON, '{"text": "Read pages 132 to 145."}')}) as web:
        page = attach("lesson.wav", wav(), hears(web)).visit_file("lesson.wav", "Which pages?")
    request = web.requests[0]
    assert wav() in request.body and b'name="model"' in request.body and b"ear" in request.body
    assert b'filename="lesson.wav"' in request.body
    assert request.headers["authorization"] == "Bearer key-123"
    assert "Read pages 132 to 145." in page.text and "0:02 long" in page.text


def test_without_a_transcription_a_recording_has_its_length_and_says_what_lacks(
    attach: Callable[..., TextBrowser],
) -> None:
    page = attach("lesson.wav", wav(65)).visit_file("lesson.wav")
    assert "WAV recording, 1:05 long, 8,000 Hz, mono" in page.text
    assert "TRANSCRIPTION_URL" in page.note


@pytest.mark.parametrize(
    "answer", [Answer(503, JSON, "busy"), Answer(200, JSON, "[]"), Answer(200, JSON, "{}")]
)
def test_a_transcription_that_fails_is_told_beside_the_length(
    attach: Callable[..., TextBrowser], answer: Answer
) -> None:
    with LocalWeb({WORDS: answer}) as web:
        page = attach("lesson.wav", wav(), hears(web)).visit_file("lesson.wav")
    assert "0:02 long" in page.text and "transcription at 127.0.0.1" in page.note


def mp3(frames: int, head: bytes = b"") -> bytes:
    """Frames of 128 kbit/s at 44,100 Hz, each 417 bytes long."""
    frame = b"\xff\xfb\x90\x00" + bytes(413)
    return (frame[:4] + bytes(32) + head).ljust(417, b"\0") + frame * (frames - 1)


def ogg(first: bytes, units: int) -> bytes:
    def page(units: int, data: bytes) -> bytes:
        return b"OggS\0\2" + struct.pack("<q", units) + bytes(12) + bytes([1, len(data)]) + data

    return page(0, first) + page(units, b"data")


FLAC = (
    b"fLaC\0\0\0\x22"
    + bytes(10)
    + ((44100 << 44) | (1 << 41) | (15 << 36) | 44100 * 90).to_bytes(8, "big")
    + bytes(16)
)
M4A = (
    b"\0\0\0\x20ftypM4A "
    + bytes(20)
    + b"\0\0\0\x74moov\0\0\0\x6cmvhd"
    + bytes(12)
    + struct.pack(">II", 1000, 3_725_000)
)
ID3 = b"ID3\3\0\0\0\0\0\x16TIT2\0\0\0\x0c\0\0\0Phobos song"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (mp3(1000), "MP3 recording, 0:26 long, 44,100 Hz, stereo"),
        (mp3(10, b"Xing\0\0\0\1" + struct.pack(">I", 5000)), "MP3 recording, 2:11 long"),
        (ID3 + mp3(1000), "Title: Phobos song"),
        (FLAC, "FLAC recording, 1:30 long, 44,100 Hz, stereo"),
        (M4A, "M4A recording, 1:02:05 long"),
        (ogg(b"\x01vorbis" + bytes(4) + b"\2" + struct.pack("<I", 44100), 441_000), "Ogg Vorbis recording, 0:10 long, 44,100 Hz"),
        (ogg(b"OpusHead\1\1" + struct.pack("<H", 312), 48_000 * 61 + 312), "Ogg Opus recording, 1:01 long, mono"),
    ],
)  # fmt: skip
def test_recordings_of_every_kind_tell_their_length(
    attach: Callable[..., TextBrowser], content: bytes, told: str
) -> None:
    assert told in attach("sound", content).visit_file("sound").text


@given(
    start=st.sampled_from([FLAC, M4A, ID3, wav(0.01), mp3(2), ogg(b"\x01vorbis" + bytes(9), 9)]),
    cut=st.integers(0, 60),
    rest=st.binary(max_size=60),
)
def test_a_damaged_recording_ends_in_one_sentence(start: bytes, cut: int, rest: bytes) -> None:
    try:
        sound_document(Source(start[:cut] + rest, name="sound"))
    except DocumentError as error:
        assert "recording" in str(error)


PLAYER = {
    "videoDetails": {
        "title": "Moons of Mars", "author": "A Channel", "lengthSeconds": "125", "viewCount": "77",
        "shortDescription": "All about two moons.",
    },
    "microformat": {"playerMicroformatRenderer": {"publishDate": "2020-05-01"}},
    "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": [
        {"baseUrl": "/captions?v=1&lang=de", "languageCode": "de"},
        {"baseUrl": "/captions?v=1&lang=en&kind=asr", "languageCode": "en", "kind": "asr"},
        {"baseUrl": "/captions?v=1&lang=en&fmt=srv3", "languageCode": "en"},
    ]}},
}  # fmt: skip
CUES = {
    "events": [
        {"tStartMs": 0, "segs": [{"utf8": "Mars has"}, {"utf8": " two moons."}]},
        {"tStartMs": 3000},
        {"tStartMs": 65000, "segs": [{"utf8": "Phobos\nis the larger one."}]},
    ]
}


def watch_page(player: dict[str, Any]) -> str:
    made = f"<script>var ytInitialPlayerResponse = {json.dumps(player)};var meta = 1;</script>"
    return f"<!doctype html><title>Moons - YouTube</title><body>{made}<div id=player></div></body>"


def test_the_words_of_a_film_are_read_with_their_times() -> None:
    with LocalWeb({"/watch": watch_page(PLAYER), "/captions": Answer(200, JSON, json.dumps(CUES))}) as web:
        page = TextBrowser(Fetcher(allow_local=True)).visit(web.url("/watch?v=1"))
    assert "[0:00] Mars has two moons." in page.text and "[1:05] Phobos is the larger one." in page.text
    assert "Channel: A Channel" in page.text and "Length: 2:05" in page.text and "2020-05-01" in page.text
    assert web.requests[-1].path == "/captions?v=1&lang=en&fmt=json3", "by hand, in the spoken language"
    assert "made by hand" in page.note


def test_captions_in_the_older_form_are_read_too() -> None:
    old = '<transcript><text start="1.5" dur="2">It&amp;#39;s &lt;i&gt;red&lt;/i&gt;</text></transcript>'
    document = video_document(watch_page(PLAYER), "https://video.example/", lambda url: old.encode())
    assert document is not None and "[0:01] It's <i>red</i>" in document.markdown


@pytest.mark.parametrize("came", [b"", b"{}", b'{"events": [7, {"segs": 1}]}', b"<transcript/>"])
def test_a_site_that_gives_no_captions_to_programs_is_told_with_what_the_film_is_about(came: bytes) -> None:
    document = video_document(watch_page(PLAYER), "https://video.example/", lambda url: came)
    assert document is not None
    assert "All about two moons." in document.markdown and "gave no captions" in document.note


@pytest.mark.timeout(60)
def test_captions_made_to_keep_a_search_busy_for_hours_do_not_stall_the_app() -> None:
    for came in (b"<p>" * 300_000, b"<p t=" * 300_000, b"<text>" + b"<" * 500_000):
        assert video_document(watch_page(PLAYER), "https://video.example/", lambda url, came=came: came)


def test_a_film_without_captions_says_so() -> None:
    document = video_document(
        watch_page({**PLAYER, "captions": {}}), "https://video.example/", lambda url: b""
    )
    assert document is not None and "has no captions" in document.note


def test_captions_at_a_private_address_are_not_fetched() -> None:
    asked = []

    def read(url: str) -> bytes:
        asked.append(url)
        return Fetcher().get(url).content

    with LocalWeb({"/x": "secret"}) as web:
        tracks = {"captionTracks": [{"baseUrl": web.url("/x"), "languageCode": "en"}]}
        player = {**PLAYER, "captions": {"playerCaptionsTracklistRenderer": tracks}}
        document = video_document(watch_page(player), "https://video.example/", read)
    assert asked and not web.requests
    assert document is not None and "did not come" in document.note


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
    st.sampled_from(["videoDetails", "captions", "captionTracks", "baseUrl", "playerCaptionsTracklistRenderer", "title", "lengthSeconds"]),
    inner, max_size=4)))  # fmt: skip
def test_a_player_page_of_any_shape_is_read_or_is_none(player: Any) -> None:
    def read(url: str) -> bytes:
        raise FetchError("no", url)

    video_document(watch_page({"videoDetails": player, "captions": player}), "https://video.example/", read)


def test_a_vision_model_needs_a_place() -> None:
    with pytest.raises(SettingsError, match="VISION_URL"):
        senses_of(Settings(_env_file=None, vision_model="eye"))


def test_no_token_goes_to_an_address_that_it_was_not_set_for() -> None:
    settings = Settings(
        _env_file=None, vision_model="eye", vision_url="http://10.0.0.1:8000", hf_token="hf_x", tgi_token="t"
    )
    vision = senses_of(settings).vision
    assert vision is not None and vision.served.token == ""
