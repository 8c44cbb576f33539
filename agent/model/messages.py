"""An agent's memory as the messages that a chat API takes."""

from collections.abc import Sequence
from typing import Any

from smolagents import ChatMessage, MessageRole
from smolagents.utils import encode_image_base64, make_image_url

# Chat templates know no tool roles outside of native tool calling; smolagents writes both as plain text.
_ROLES = {MessageRole.TOOL_CALL.value: "assistant", MessageRole.TOOL_RESPONSE.value: "user"}

Message = dict[str, Any]


def chat_messages(messages: Sequence[ChatMessage | Message], sees_images: bool = False) -> list[Message]:
    """Plain `{"role", "content"}` messages: roles of the chat API, no two of a role in a row.

    Text parts become one string: some templates render a list of parts as it
    stands. An image is only sent to a model that sees; a text model would read
    its base64 as text, so there a line says that it was left out.
    """
    result: list[Message] = []
    for message in messages:
        role, content = (
            (message["role"], message["content"])
            if isinstance(message, dict)
            else (message.role, message.content)
        )
        role = _ROLES.get(str(getattr(role, "value", role)), str(getattr(role, "value", role)))
        parts = _parts(content, sees_images)
        if result and result[-1]["role"] == role:
            result[-1]["content"] += parts
        else:
            result.append({"role": role, "content": parts})
    for entry in result:
        entry["content"] = _joined(entry["content"])
    return result


def _parts(content: Any, sees_images: bool) -> list[Message]:
    if content is None:
        return []
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [_part(part, sees_images) for part in content]


def _part(part: Message, sees_images: bool) -> Message:
    if part["type"] == "text":
        return {"type": "text", "text": part["text"]}
    if not sees_images:
        return {"type": "text", "text": "[An image was left out: this model reads text only.]"}
    if part["type"] == "image":
        return {"type": "image_url", "image_url": {"url": make_image_url(encode_image_base64(part["image"]))}}
    return part


def _joined(parts: list[Message]) -> str | list[Message]:
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts
