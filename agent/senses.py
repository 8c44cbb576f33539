"""The models for pictures and recordings, as the settings have them."""

from pydantic import SecretStr

from agent.errors import SettingsError
from agent.settings import ROUTER_URL, Settings
from tools.audio import Transcriber
from tools.senses import Senses
from tools.served import Served
from tools.vision import VisionModel

_TRANSCRIPTION_SECONDS = 300.0


def senses_of(settings: Settings) -> Senses:
    """What is set up. Raises SettingsError for a vision model that stands nowhere."""
    vision = speech = None
    if settings.vision_model:
        url, token = _vision_endpoint(settings)
        vision = VisionModel(Served("vision model", url, settings.vision_model, token))
    if settings.transcription_url:
        token = _plain(settings.transcription_token)
        speech = Transcriber(
            Served(
                "transcription",
                settings.transcription_url,
                settings.transcription_model,
                token,
                _TRANSCRIPTION_SECONDS,
            )
        )
    return Senses(vision, speech)


def _vision_endpoint(settings: Settings) -> tuple[str, str]:
    """Address and token. No token goes to another address than the one that it was set for."""
    if settings.vision_url:
        return settings.vision_url, _plain(settings.vision_token)
    if settings.tgi_url:
        return settings.tgi_url, _plain(settings.tgi_token)
    if settings.hf_token:
        return ROUTER_URL, _plain(settings.hf_token)
    raise SettingsError("VISION_MODEL is set, but not where it is: set VISION_URL, TGI_URL or HF_TOKEN too.")


def _plain(token: SecretStr | None) -> str:
    return token.get_secret_value() if token else ""
