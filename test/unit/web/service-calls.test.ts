import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openWithTicket } from "../../../src/client/browser-socket.ts";
import { ApiError, apiError, Unreachable } from "../../../src/client/errors.ts";
import { FileUpload } from "../../../src/client/upload.ts";

// Where the page is, which the client asks for when the first file of the process loads it.
vi.stubGlobal("document", { baseURI: "http://page.test/below/" });
const { account, askAgain, forgetAccount, signedIn } = await import(
  "../../../src/web/api/account.ts"
);
const {
  API_BASE,
  api,
  call,
  callNameless,
  callOnce,
  callPatiently,
  fetchFrom,
  isServiceAway,
  messageOf,
} = await import("../../../src/web/api/client.ts");
const { signOut } = await import("../../../src/web/api/sign-in.ts");

const BRIEF = { attempts: 1, firstMs: 1, longestMs: 1 };
const ME = { kind: "user", isRemembered: false, id: "me", email: "me@x.org" } as const;
const as = (token: string) => ({ ...ME, role: "participant", token }) as const;

describe("calls of the page", () => {
  const asked: { url: string; who: string | null; key: string | null }[] = [];
  let answer: (n: number, who: string | null) => Response;

  // Other files run in this process after it.
  afterAll(() => vi.unstubAllGlobals());
  beforeEach(() => {
    asked.length = 0;
    account.value = as("t1");
    vi.stubGlobal("fetch", async ({ url, headers }: Request) => {
      const who = headers.get("authorization");
      const n = asked.push({ url, who, key: headers.get("idempotency-key") });
      return answer(n, who);
    });
  });
  afterEach(() => forgetAccount());

  const refused = (status: number, code = "", message = "No.") =>
    Response.json({ message }, { status, headers: { "x-error-code": code } });
  const me = () => call((api) => api.GET("/auth/me"));
  const question = { params: { path: { session_id: "s" } }, body: { query: "Who?" } };

  it("calls: whoever's hour is over signs in once for all that waits, and the calls go on", async () => {
    answer = (_, who) => (who === "Bearer t2" ? Response.json({ id: "me" }) : refused(401));
    const both = [me(), fetchFrom("/sessions/s/transcript")];
    await vi.waitFor(() => expect(askAgain.value).toBe(true));
    signedIn(as("t2"));
    await Promise.all(both);
    expect(asked.map(({ who }) => who)).toEqual(
      ["t1", "t1", "t2", "t2"].map((each) => `Bearer ${each}`),
    );
    const again = asked.slice(2).map(({ url }) => url.replace(`${API_BASE}/`, ""));
    expect(again.sort()).toEqual(["auth/me", "sessions/s/transcript"]);
  });

  it("calls: a sign-out reaches the service although its page is left at once", async () => {
    const outlives: boolean[] = [];
    vi.stubGlobal("fetch", async ({ keepalive }: Request) => {
      outlives.push(keepalive);
      return new Response(null, { status: 204 });
    });
    await signOut();
    expect(outlives).toEqual([true]);
    expect(account.value).toBeUndefined();
  });

  it("calls: a sign-in and a wrong password ask nobody to sign in again", async () => {
    answer = () => refused(401, "invalid_credentials", "That is not your password.");
    const body = { current_password: "a", new_password: "b" };
    const change = callOnce((api) => api.POST("/auth/password", { body }));
    const error = await change.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(messageOf(error)).toBe("That is not your password.");
    answer = () => refused(401);
    const again = callNameless((api) => api.GET("/auth/refresh-token"));
    await expect(again).rejects.toMatchObject({ status: 401 });
    expect(asked.map(({ who }) => who)).toEqual(["Bearer t1", null]);
    expect(askAgain.value).toBe(false);
  });

  it("calls: what is over in a moment is repeated by its key, what has none is not", async () => {
    answer = (n) => (n === 1 ? refused(503) : Response.json({ id: "s" }, { status: 201 }));
    await call((api) => api.POST("/sessions", { body: {} }));
    expect(asked.map(({ key }) => key)).toEqual([asked[0]?.key, asked[0]?.key]);
    expect(asked[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
    answer = () => refused(503);
    const body = { current_password: "a", new_password: "b" };
    const change = callOnce((api) => api.POST("/auth/password", { body }));
    await expect(change).rejects.toMatchObject({ status: 503 });
    expect(asked).toHaveLength(3);
    const later = { status: 429, headers: { "retry-after": "30" } };
    answer = () => Response.json({ message: "Too many." }, later);
    await expect(me()).rejects.toMatchObject({ status: 429 });
    expect(asked).toHaveLength(4);
  });

  it("calls: a question outlasts a restart, and is told each time that it is asked again", async () => {
    vi.useFakeTimers();
    try {
      const failures: unknown[] = [];
      const ask = () =>
        callPatiently(
          (api) => api.POST("/sessions/{session_id}/hirag-query", question),
          (error) => failures.push(messageOf(error)),
        );
      answer = (n) => {
        if (n === 1) throw new TypeError("Failed to fetch");
        if (n === 2) return new Response("<html>Bad gateway", { status: 502 });
        return n < 6 ? refused(503, "unavailable", "Nobody is there.") : Response.json({ a: 1 });
      };
      const asking = ask();
      await vi.runAllTimersAsync();
      expect(await asking).toEqual({ a: 1 });
      const away = "The service does not answer. Is it running, and are you online?";
      const nobody = Array.from({ length: 3 }, () => "Nobody is there.");
      expect(failures).toEqual([away, "The service answered with 502.", ...nobody]);
      // It ends, and neither a refusal nor a long wait that is asked for is tried again.
      const ends = async (many: number, status: number, headers: Record<string, string> = {}) => {
        asked.length = 0;
        answer = () => Response.json({ message: "No." }, { status, headers });
        const failing = expect(ask()).rejects.toMatchObject({ status });
        await vi.runAllTimersAsync();
        await failing;
        expect([status, asked.length]).toEqual([status, many]);
      };
      await ends(7, 503);
      await ends(1, 403);
      await ends(1, 429, { "retry-after": "60" });
    } finally {
      vi.useRealTimers();
    }
  });

  it("calls: that nothing answers shows until something does, and is told in words", async () => {
    answer = () => {
      throw new TypeError("Failed to fetch");
    };
    const error = await me().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Unreachable);
    expect(messageOf(error)).toMatch(/^The service does not answer\./);
    expect(isServiceAway.value).toBe(true);
    answer = () => refused(404);
    await expect(me()).rejects.toThrow(ApiError);
    expect(isServiceAway.value).toBe(false);
    // So it is with whoever else is called for, such as the live channel and files that are sent.
    answer = () => {
      throw new TypeError("Failed to fetch");
    };
    const file = new FileUpload(api, "s", new Blob(["sound"]), { backOff: BRIEF });
    await expect(file.bring()).rejects.toThrow(Unreachable);
    expect(isServiceAway.value).toBe(true);
    answer = () => refused(403);
    await expect(openWithTicket(api)("/live", { handshakeMs: 100 })).rejects.toThrow(ApiError);
    expect(isServiceAway.value).toBe(false);
    const said = (text: string) =>
      messageOf(apiError({ call: "GET /x", status: 502, code: "", said: text }));
    expect(["<html>Bad gateway", "no explanation", "Later."].map(said)).toEqual([
      ...Array(2).fill("The service answered with 502."),
      "Later.",
    ]);
  });
});
