"""What is told of a model server before the first question, and what when there is none."""

import socket

import pytest

from agent.errors import EndpointBusy, EndpointRefused, EndpointUnreachable
from agent.model.capabilities import Capabilities, read_capabilities, routes, token_for
from tests.scripted_endpoint import ScriptedEndpoint, asleep, loading, refuse


def test_tgi_tells_its_limits():
    with ScriptedEndpoint(flavour="tgi") as endpoint:
        assert read_capabilities(endpoint.url, None) == Capabilities(
            server="tgi",
            model_id="tgi",
            name="Qwen/Qwen2.5-Coder-32B-Instruct",
            context_tokens=32768,
            max_stop_sequences=4,
            sees_images=False,
            version="3.3.7",
            max_input_tokens=28672,
        )


def test_a_model_served_from_a_folder_shows_no_path_of_the_server():
    with ScriptedEndpoint(flavour="tgi", model="/data/models/my-model") as endpoint:
        assert read_capabilities(endpoint.url, None).name == "my-model"


def test_a_lora_adapter_of_tgi_can_be_named():
    with ScriptedEndpoint(flavour="tgi") as endpoint:
        assert read_capabilities(endpoint.url, None, "my-adapter").model_id == "my-adapter"
        assert read_capabilities(endpoint.url, None, endpoint.model).model_id == "tgi"


def test_llama_cpp_tells_its_context_and_whether_it_sees():
    with ScriptedEndpoint(flavour="llama.cpp", context_tokens=8192, sees_images=True) as endpoint:
        found = read_capabilities(endpoint.url, None)
    assert (found.server, found.context_tokens, found.sees_images) == ("llama.cpp", 8192, True)


def test_vllm_tells_its_models_name_which_must_be_sent():
    with ScriptedEndpoint(flavour="openai", model="owner/model", context_tokens=16384) as endpoint:
        found = read_capabilities(f"{endpoint.url}/v1", None)
    assert (found.server, found.model_id, found.context_tokens) == ("openai", "owner/model", 16384)


def test_the_prompt_budget_leaves_room_for_the_reply():
    found = Capabilities("tgi", "tgi", "m", context_tokens=8192, max_input_tokens=7000)
    assert found.prompt_tokens(512) == 7000
    assert found.prompt_tokens(4096) == 4096
    assert Capabilities("openai", "m", "m").prompt_tokens(512) is None


ROUTER = {
    "object": "list",
    "data": [
        {
            "id": "a/text",
            "providers": [{"context_length": 131072}, {"context_length": 65536}, {"provider": "x"}],
        },
        {"id": "b/seeing", "architecture": {"input_modalities": ["text", "image"]}, "providers": []},
    ],
}


@pytest.fixture
def router():
    """A server with several models, as the Hugging Face router is one."""
    with ScriptedEndpoint(flavour="openai") as endpoint:
        endpoint.models = ROUTER
        yield endpoint


def test_of_several_models_the_named_one_is_taken_with_its_smallest_context(router):
    found = read_capabilities(router.url, None, "a/text:fastest")
    assert (found.model_id, found.context_tokens, found.sees_images) == ("a/text:fastest", 65536, False)
    assert read_capabilities(router.url, None, "b/seeing").sees_images


def test_of_several_models_none_is_guessed(router):
    with pytest.raises(
        EndpointRefused, match="serves 2 models: name one of its models \\(a/text, b/seeing\\)"
    ):
        read_capabilities(router.url, None)
    with pytest.raises(EndpointRefused, match="knows no model 'c/none'"):
        read_capabilities(router.url, None, "c/none")


# --- faults -------------------------------------------------------------------------------


def one_sentence(error: Exception) -> bool:
    text = str(error)
    return text.endswith(".") and "\n" not in text and text.count(". ") == 0


def test_a_server_that_is_down_is_named_with_its_address():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(EndpointUnreachable, match=f"127.0.0.1:{port}.*check the address") as caught:
        read_capabilities(f"http://127.0.0.1:{port}", None)
    assert one_sentence(caught.value)


def test_a_server_that_never_answers_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(EndpointUnreachable, match="took too long"):
            read_capabilities(url, None, timeout=0.2)


@pytest.mark.parametrize(
    ("flavour", "guard_all"), [("tgi", False), ("tgi", True), ("llama.cpp", True), ("openai", True)]
)
def test_a_wrong_token_is_noticed_before_the_first_question(flavour, guard_all):
    with ScriptedEndpoint(flavour=flavour, token="right", guard_all=guard_all) as endpoint:
        with pytest.raises(EndpointRefused, match="refused the token \\(401\\): set a token") as caught:
            read_capabilities(endpoint.url, "wrong")
        assert read_capabilities(endpoint.url, "right").server == flavour
    assert one_sentence(caught.value)
    assert "wrong" not in str(caught.value)


def test_a_sleeping_or_loading_server_is_busy_not_broken():
    for down in (asleep(), loading()):
        with ScriptedEndpoint(down=down) as endpoint, pytest.raises(EndpointBusy, match="503") as caught:
            read_capabilities(endpoint.url, None)
        assert one_sentence(caught.value)


@pytest.mark.parametrize(
    ("down", "message"),
    [
        (refuse(404, "<html>Not found</html>"), "is no model endpoint"),
        (refuse(200, "<html>Welcome</html>", Content_Type="text/html"), "is no model endpoint"),
        (refuse(200, "[1, 2]"), "is no model endpoint"),
        (
            refuse(302, "", Location="https://user:pw@elsewhere.example/login?key=1"),
            "use https://elsewhere.example/login",
        ),
        (refuse(500, "Traceback"), r"failed \(500\)"),
    ],
)
def test_an_address_of_something_else_is_one_clear_sentence(down, message):
    with (
        ScriptedEndpoint(down=down) as endpoint,
        pytest.raises((EndpointRefused, EndpointBusy), match=message) as caught,
    ):
        read_capabilities(endpoint.url, None)
    assert one_sentence(caught.value)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "", "ftp://host", "http://"])
def test_an_address_without_scheme_or_host_is_refused(url):
    with pytest.raises((EndpointRefused, EndpointUnreachable), match="address") as caught:
        read_capabilities(url, None)
    assert one_sentence(caught.value)


@pytest.mark.parametrize(
    "written", ["https://h:8", "https://h:8/", "https://h:8/v1", "https://h:8/v1/chat/completions"]
)
def test_the_same_server_is_found_however_its_address_is_written(written):
    assert routes(written).root == "https://h:8"
    assert routes(written).chat == "https://h:8/v1/chat/completions"


def test_a_hugging_face_token_goes_to_hugging_face_only():
    ours = ["https://router.huggingface.co/v1", "https://x1.us-east-1.aws.endpoints.huggingface.cloud"]
    others = [
        "http://router.huggingface.co",
        "https://huggingface.co.evil.example",
        "https://evilhuggingface.co",
        "https://someone.hf.space",
        "http://127.0.0.1:8080",
    ]
    assert {token_for(url, "hf_secret") for url in ours} == {"hf_secret"}
    assert {token_for(url, "hf_secret") for url in others} == {"none"}
    assert token_for("http://127.0.0.1:8080", "own-key") == "own-key"
    assert token_for("https://router.huggingface.co/v1", None) == "none"
