import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { judge } from "../../../src/client/api-client.ts";
import {
  ApiError,
  AuthenticationError,
  apiError,
  ConflictError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  RateLimitError,
  ServiceError,
  Unreachable,
  VoiceError,
} from "../../../src/client/errors.ts";
import { VoiceClient } from "../../../src/client/node.ts";
import { refusal, ScriptedService } from "../../support/scripted-service.ts";

const QUICK = { attempts: 4, firstMs: 1, longestMs: 2 };
const SESSION = { id: "s1", status: "recording" };
const BUSY = { status: 503, body: refusal("Later.") };

describe("client calls", () => {
  let service: ScriptedService;
  let voice: VoiceClient;
  beforeEach(async () => {
    service = await ScriptedService.start();
    voice = new VoiceClient({ baseUrl: service.url, apiKey: "vsk_1", backOff: QUICK });
  });
  afterEach(() => service.stop());

  const keys = () => service.asked.map(({ headers }) => headers["idempotency-key"]);

  it("client: what may have been done is repeated by its key alone", async () => {
    const failure = (code: string) =>
      apiError({ call: "PATCH /x", status: 503, code, said: "No." });
    expect(judge(failure("unavailable")).retryable).toBe(true);
    expect(judge(failure("outcome_unknown")).retryable).toBe(false);
    const lost = { ...BUSY, headers: { "x-error-code": "outcome_unknown" } };
    service.answer = () => (service.asked.length < 2 ? lost : { status: 201, body: SESSION });
    expect(await voice.createSession({ title: "A" })).toEqual(SESSION);
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(1);
    const edit = () =>
      voice.call((api) =>
        api.PATCH("/sessions/{session_id}", {
          params: { path: { session_id: "s1" } },
          body: { title: "B" },
        }),
      );
    service.answer = () => lost;
    await expect(edit()).rejects.toThrow(ServiceError);
    expect(service.asked.slice(2).map(({ method }) => method)).toEqual(["PATCH"]);
  });

  it("client: a creation is repeated under one key, and each creation has its own", async () => {
    service.answer = () =>
      service.asked.length % 3 === 0 ? { status: 201, body: SESSION } : "cut";
    await voice.createSession();
    await voice.createSession();
    const [a, b, c, d, e, f] = keys();
    expect([b, c]).toEqual([a, a]);
    expect([e, f]).toEqual([d, d]);
    expect(d).not.toBe(a);
    expect(a).toMatch(/^[0-9a-f-]{36}$/);
    expect(service.asked[0]?.headers["x-api-key"]).toBe("vsk_1");
    await voice.createSession({}, { idempotencyKey: "own-key" }).catch(() => undefined);
    expect(new Set(keys().slice(6))).toEqual(new Set(["own-key"]));
  });

  it("client: a change with If-Match is not made twice, but tried again when it was too early", async () => {
    const change = () =>
      voice.call((api) =>
        api.PATCH("/sessions/{session_id}/segments/{segment_id}", {
          params: {
            path: { session_id: "s1", segment_id: "g1" },
            header: { "If-Match": '"1"' },
          },
          body: { text: "B" },
        }),
      );
    service.answer = () => "cut";
    await expect(change()).rejects.toThrow(Unreachable);
    service.answer = () => BUSY;
    await expect(change()).rejects.toThrow(ServiceError);
    expect(service.asked).toHaveLength(2);
    service.answer = () =>
      service.asked.length === 3
        ? { status: 429, body: refusal("Slower.") }
        : { status: 200, body: { id: "g1" } };
    expect(await change()).toEqual({ id: "g1" });
  });

  it("client: Retry-After is kept to, and a wait beyond a minute is not made", async () => {
    const waits: number[] = [];
    const onRetry = (_error: unknown, waitMs: number) => waits.push(waitMs);
    const told = (after: string) => ({ ...BUSY, status: 429, headers: { "retry-after": after } });
    service.answer = () =>
      service.asked.length === 1 ? told("0.05") : { status: 200, body: SESSION };
    await voice.getSession("s1", { onRetry });
    expect(waits).toEqual([50]);
    service.answer = () => told("3600");
    const error = await voice.getSession("s1", { onRetry }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect((error as RateLimitError).retryAfterMs).toBe(3_600_000);
    expect(waits).toEqual([50]);
  });

  it.each([
    [400, InvalidRequestError, 1],
    [401, AuthenticationError, 1],
    [403, ForbiddenError, 1],
    [404, NotFoundError, 1],
    [409, ConflictError, 1],
    [412, ConflictError, 1],
    [422, InvalidRequestError, 1],
    [429, RateLimitError, QUICK.attempts],
    [500, ServiceError, QUICK.attempts],
    [507, ServiceError, QUICK.attempts],
  ])(
    "client: %d is an error of its class, with code, message and request",
    async (status, kind, tries) => {
      const headers = { "x-error-code": "some_code", "x-request-id": "r-1" };
      service.answer = () => ({ status, headers, body: refusal("So it is.") });
      const error = await voice.getSession("s1").catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(kind);
      expect(error).toBeInstanceOf(VoiceError);
      expect(error).toMatchObject({
        status,
        code: "some_code",
        said: "So it is.",
        requestId: "r-1",
      });
      expect((error as Error).message).toBe(`GET /sessions/s1 answered ${status}: So it is.`);
      expect((error as Error).name).toBe(kind.name);
      expect(service.asked).toHaveLength(tries);
    },
  );

  it("client: nobody there, an answer that stays out, and one of something else", async () => {
    service.answer = () => "silence";
    const late = voice.getSession("s1", { timeoutMs: 20 });
    await expect(late).rejects.toThrow(/got no answer within 0\.02 s/);
    service.answer = () => ({ status: 200 });
    await expect(voice.getSession("s1")).rejects.toThrow(/502: the answer is not a JSON object/);
    const away = new VoiceClient({ baseUrl: service.url, apiKey: "k", backOff: QUICK });
    await service.stop();
    await expect(away.getSession("s1")).rejects.toThrow(Unreachable);
    service = await ScriptedService.start();
  });

  it("client: a call that is aborted ends at once, also between two attempts", async () => {
    const stop = new AbortController();
    service.answer = () => {
      setTimeout(() => stop.abort(new Error("enough")), 5);
      return "silence";
    };
    await expect(voice.getSession("s1", { signal: stop.signal })).rejects.toThrow("enough");
    const patient = new VoiceClient({
      baseUrl: service.url,
      apiKey: "k",
      backOff: { attempts: 2, firstMs: 60_000, longestMs: 60_000 },
    });
    service.answer = () => BUSY;
    const later = new AbortController();
    const onRetry = () => later.abort(new Error("enough"));
    await expect(patient.getSession("s1", { signal: later.signal, onRetry })).rejects.toThrow(
      "enough",
    );
  });

  it("client: a token that is refused is replaced once, and the call goes on", async () => {
    const asked: boolean[] = [];
    const token = async (isRefused: boolean) => {
      asked.push(isRefused);
      return isRefused ? "fresh" : "old";
    };
    const person = new VoiceClient({ baseUrl: `${service.url}/api/`, token, backOff: QUICK });
    service.answer = ({ headers }) =>
      headers.authorization === "Bearer fresh"
        ? { status: 200, body: SESSION }
        : { status: 401, body: refusal("Expired.") };
    expect(await person.getSession("s1")).toEqual(SESSION);
    await person.getSession("s1");
    expect(asked).toEqual([false, true]);
    expect(service.asked.map(({ path }) => path)).toEqual(Array(3).fill("/api/sessions/s1"));
    service.answer = () => ({ status: 401, body: refusal("Gone.") });
    await expect(person.getSession("s1")).rejects.toThrow(AuthenticationError);
    expect(asked).toEqual([false, true, true]);
  });

  it("client: calls that are refused together get one fresh token, and a wrong password none", async () => {
    let renewals = 0;
    const token = async (isRefused: boolean) => (isRefused ? `t${++renewals}` : "t0");
    const person = new VoiceClient({ baseUrl: service.url, token, backOff: QUICK });
    service.answer = async ({ headers, path }) => {
      if (path.endsWith("/auth/password")) {
        const code = { "x-error-code": "invalid_credentials" };
        return { status: 401, headers: code, body: refusal("That is not your password.") };
      }
      // The last refusal comes when the others have a fresh token already.
      if (path.endsWith("late")) await new Promise((wake) => setTimeout(wake, 50));
      const isGood = headers.authorization === "Bearer t1";
      return isGood ? { status: 200, body: SESSION } : { status: 401, body: refusal("Over.") };
    };
    await Promise.all(["a", "b", "late"].map((id) => person.getSession(id)));
    expect(renewals).toBe(1);
    const body = { current_password: "a", new_password: "b" };
    const change = person.call((api) => api.POST("/auth/password", { body }));
    await expect(change).rejects.toThrow(AuthenticationError);
    expect(renewals).toBe(1);
  });

  it("client: lists are read to their end, and an answer without content is none", async () => {
    service.answer = ({ path }) => {
      const isSecond = path.includes("cursor=c1");
      const items = isSecond ? [{ id: "b" }] : [{ id: "a" }];
      return { status: 200, body: { items, next_cursor: isSecond ? null : "c1" } };
    };
    const ids: string[] = [];
    for await (const { id } of voice.listSessions({ tag: ["x"] })) ids.push(id);
    expect(ids).toEqual(["a", "b"]);
    expect(service.asked.every(({ path }) => path.includes("tag=x"))).toBe(true);
    service.answer = () => ({ status: 204 });
    const path = { session_id: "s1", upload_id: "u1" };
    const gone = voice.call((api) =>
      api.DELETE("/sessions/{session_id}/uploads/{upload_id}", { params: { path } }),
    );
    expect(await gone).toBeUndefined();
  });

  it("client: a redirection is not followed with the key, but told", async () => {
    service.answer = () => ({ status: 302, headers: { location: "https://elsewhere" } });
    const error = await voice.getSession("s1").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(String(error)).toContain("https://elsewhere");
    expect(service.asked).toHaveLength(1);
  });
});
