"""Calls of the REST interface."""
from __future__ import annotations

import uuid
from typing import Any, Dict, Mapping, Optional

import httpx

from ..back_off import MOST_RETRY_AFTER, BackOff
from ..errors import ApiError, AuthenticationError, Unreachable, VoiceError, api_error
from .runtime import TokenSource, sleep, token_of


class AsyncApi:
    """`base_url` ends with /api. Either a key or a token says who calls."""

    def __init__(
        self,
        base_url: str,
        api_key: Optional[str],
        token: Optional[TokenSource],
        timeout: float,
        back_off: BackOff,
        http: Optional[httpx.AsyncClient],
    ) -> None:
        if (api_key is None) == (token is None):
            raise ValueError("give either api_key or token")
        base = base_url.rstrip("/")
        self.base_url = base if base.endswith("/api") else f"{base}/api"
        self.back_off = back_off
        self._api_key = api_key
        self._source = token
        self._token: Optional[str] = None
        self._timeout = timeout
        self._http = http or httpx.AsyncClient(follow_redirects=False)
        self._is_own = http is None

    async def aclose(self) -> None:
        if self._is_own:
            await self._http.aclose()

    async def headers(self) -> Dict[str, str]:
        """The header that says who calls."""
        if self._api_key is not None:
            return {"X-API-Key": self._api_key}
        if self._token is None and self._source is not None:
            self._token = await token_of(self._source, False)
        return {"Authorization": f"Bearer {self._token}"}

    async def renew(self) -> bool:
        """After a refusal: True when there is a fresh token to try."""
        if self._source is None or isinstance(self._source, str):
            return False
        self._token = await token_of(self._source, True)
        return True

    async def call(
        self,
        method: str,
        path: str,
        *,
        json: Any = None,
        params: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        timeout: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> Any:
        """The content of the answer. Repeated while a failure may pass (408, 429, 5xx, network), a
        POST always under the same Idempotency-Key."""
        own = dict(headers or {})
        if method == "POST":
            own["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        failures = 0
        while True:
            try:
                answer = await self.send(
                    method, f"{self.base_url}{path}", json=json, params=params, headers=own, timeout=timeout
                )
                return _content(method, path, answer)
            except VoiceError as error:
                failures += 1
                wait = self._wait(error, failures, method)
                if wait is None:
                    raise
                await sleep(wait)

    def _wait(self, error: VoiceError, failures: int, method: str) -> Optional[float]:
        """Seconds until the next attempt; None when there is none."""
        # The key tells what became of a POST whose outcome was not known.
        is_kept = method == "POST" and error.code == "outcome_unknown"
        if not (error.retryable or is_kept) or failures >= self.back_off.attempts:
            return None
        asked = error.retry_after or 0.0 if isinstance(error, ApiError) else 0.0
        return None if asked > MOST_RETRY_AFTER else max(asked, self.back_off.wait(failures))

    async def send(
        self,
        method: str,
        url: str,
        *,
        json: Any = None,
        params: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        content: Optional[bytes] = None,
        timeout: Optional[float] = None,
    ) -> httpx.Response:
        """One request, and one more with a fresh token when the last one is refused."""
        name = f"{method} {url[len(self.base_url):]}"
        limit = self._timeout if timeout is None else timeout
        for is_last in (False, True):
            try:
                answer = await self._http.request(
                    method,
                    url,
                    json=json,
                    params=params,
                    content=content,
                    headers={**(headers or {}), **(await self.headers())},
                    timeout=limit,
                )
            except httpx.TransportError as error:
                raise Unreachable(name, error) from error
            if answer.is_success:
                return answer
            failure = api_error(name, answer.status_code, answer.headers, answer.content)
            may_renew = isinstance(failure, AuthenticationError) and not is_last
            if not may_renew or not await self.renew():
                raise failure
        raise AssertionError("the last attempt returns or raises")


def _content(method: str, path: str, answer: httpx.Response) -> Any:
    if answer.status_code == 204:
        return None
    try:
        return answer.json()
    except ValueError:
        said = b"the answer is not a JSON object"
        raise api_error(f"{method} {path}", 502, {}, said) from None
