import { rmSync } from "node:fs";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fileWith, type PythonOrders, PythonPackage } from "../support/python-package.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { refusal, ScriptedService } from "../support/scripted-service.ts";
import { ScriptedStream } from "../support/scripted-stream.ts";
import { ScriptedUploads } from "../support/scripted-uploads.ts";

const QUICK = { attempts: 4, first: 0.001, longest: 0.002 };
const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;
const SESSION = { id: "s1", status: "recording" };
const installed = PythonPackage.install(process.env.VOICE_CLIENT_PYTHON);

afterAll(() => {
  if (typeof installed !== "string") installed.remove();
});

describe.runIf(typeof installed === "string")("python client", () => {
  it.skip(`left out: ${String(installed)}`, () => {});
});

describe.skipIf(typeof installed === "string").each(["sync", "async"] as const)(
  "python client, %s",
  (kind) => {
    const python = installed as PythonPackage;
    const sound = new Uint8Array(700_001).map((_, at) => (at * 31) ^ (at >> 7));
    let folder: string;
    let service: ScriptedService;
    beforeAll(() => {
      folder = makeScratchFolder("python-client");
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));
    beforeEach(async () => {
      service = await ScriptedService.start();
    });
    afterEach(() => service.stop());

    const run = (orders: PythonOrders["do"], client = {}) =>
      python.run({
        kind,
        client: {
          ...{ base_url: service.url },
          ...("tokens" in client ? {} : { api_key: "vsk_1" }),
          ...client,
        },
        back_off: QUICK,
        do: orders.map((each) => ({ session: "s1", back_off: QUICK, ...each })),
      });
    const get = { do: "call", method: "get_session", args: ["s1"] };
    const create = { do: "call", method: "create_session", options: { title: "A" } };

    it("python: a creation is repeated under one key, also when its outcome is not known", async () => {
      const lost = { status: 503, headers: { "x-error-code": "outcome_unknown" } };
      service.answer = () =>
        service.asked.length % 3 === 0
          ? { status: 201, body: SESSION }
          : service.asked.length % 3 === 1
            ? "cut"
            : lost;
      expect(await run([create, create])).toEqual([SESSION, SESSION]);
      const keys = service.asked.map(({ headers }) => headers["idempotency-key"]);
      expect(new Set(keys.slice(0, 3)).size).toBe(1);
      expect(new Set(keys).size).toBe(2);
      expect(service.asked[0]?.headers["x-api-key"]).toBe("vsk_1");
      expect(JSON.parse(String(service.asked[0]?.body))).toEqual({ title: "A" });
    });

    it.each([
      [400, "InvalidRequestError", 1],
      [401, "AuthenticationError", 1],
      [403, "ForbiddenError", 1],
      [404, "NotFoundError", 1],
      [409, "ConflictError", 1],
      [429, "RateLimitError", QUICK.attempts],
      [503, "ServiceError", QUICK.attempts],
    ])(
      "python: %d is an error of its class, with code, message and request",
      async (status, name, tries) => {
        const headers = { "x-error-code": "some_code", "x-request-id": "r-1" };
        service.answer = () => ({ status, headers, body: refusal("So it is.") });
        const [told] = await run([get]);
        expect(told).toMatchObject({ error: name, code: "some_code", status, request_id: "r-1" });
        expect(told?.message).toBe(`GET /sessions/s1 answered ${status}: So it is.`);
        expect(service.asked).toHaveLength(tries);
      },
    );

    it("python: Retry-After is kept to, a long one is final, and nobody there is told", async () => {
      const started = performance.now();
      const after = (seconds: string) => ({ status: 429, headers: { "retry-after": seconds } });
      service.answer = ({ path }) =>
        path.endsWith("/s2")
          ? after("3600")
          : service.asked.length === 1
            ? after("0.5")
            : { status: 200, body: SESSION };
      const told = await run([get, { ...get, args: ["s2"] }]);
      expect(told[0]).toEqual(SESSION);
      expect(performance.now() - started).toBeGreaterThan(500);
      expect(told[1]).toMatchObject({ error: "RateLimitError", retry_after: 3_600 });
      expect(service.asked).toHaveLength(3);
      const [away] = await run([get], { base_url: "http://127.0.0.1:9" });
      expect(away).toMatchObject({ error: "Unreachable", code: "unreachable", retryable: true });
      service.answer = () => "silence";
      const [late] = await run([get], { timeout: 0.05 });
      expect(late).toMatchObject({ error: "Unreachable" });
    });

    it("python: lists are read to their end, and a refused token is replaced once", async () => {
      service.answer = ({ path, headers }) => {
        if (headers.authorization !== "Bearer fresh") return { status: 401, body: refusal("Old.") };
        const isSecond = path.includes("cursor=c1");
        const items = isSecond ? [{ id: "b" }] : [{ id: "a" }];
        return { status: 200, body: { items, next_cursor: isSecond ? null : "c1" } };
      };
      const list = { do: "call", method: "list_sessions", options: { tag: "x" } };
      expect(await run([list], { tokens: ["old", "fresh"] })).toEqual([[{ id: "a" }, { id: "b" }]]);
      expect(service.asked).toHaveLength(3);
      expect(service.asked.every(({ path }) => path.includes("tag=x"))).toBe(true);
    });

    it("python: a file is gone on with behind what has come, whatever answer is lost", async () => {
      const uploads = new ScriptedUploads(service);
      const bytes = new Uint8Array(5 * 1024 * 1024 + 7).map((_, at) => (at * 7) ^ (at >> 8));
      const file = fileWith(folder, bytes, "Gespräch.m4a");
      const states = ["received", "storing"];
      uploads.state = () => ({ status: states.shift() ?? "stored" });
      uploads.fault = ({ method }, n) => {
        if (method === "POST") return n === 1 ? "lost" : undefined;
        if (method !== "PATCH") return undefined;
        return n === 2 ? "half" : n === 3 ? "lost" : n === 4 ? "busy" : undefined;
      };
      const [told] = await run([{ do: "upload", file, more: true }]);
      expect(told).toMatchObject({ status: "stored" });
      expect(states).toEqual([]);
      expect(uploads.files.map((each) => each.bytes.equals(bytes))).toEqual([true]);
      expect(told?.addresses).toEqual([`${service.url}/api/sessions/s1/uploads/u1`]);
      expect(uploads.files[0]).toMatchObject({ more: true });
      const [name] = (uploads.files[0]?.metadata ?? "").split(",");
      expect(Buffer.from(name?.split(" ")[1] ?? "", "base64").toString()).toBe("Gespräch.m4a");
    });

    it("python: another process goes on with an upload's address; a failed file is told", async () => {
      const uploads = new ScriptedUploads(service);
      const file = fileWith(folder, sound);
      uploads.files.push({
        ...{ id: "u1", size: sound.length, metadata: "", more: false },
        bytes: Buffer.from(sound.subarray(0, 123_456)),
      });
      const address = `${service.url}/api/sessions/s1/uploads/u1`;
      const [told] = await run([{ do: "upload", file, address }]);
      expect(told?.progress).toEqual([123_456, sound.length]);
      expect(uploads.files[0]?.bytes.equals(sound)).toBe(true);
      uploads.state = () => ({ status: "failed", error_code: "not_audio", error: "It is a text." });
      const [failed] = await run([{ do: "upload", file }]);
      expect(failed).toMatchObject({ error: "UploadError", code: "not_audio" });
      uploads.fault = ({ method }) => (method === "PATCH" ? "busy" : undefined);
      const [given] = await run([{ do: "upload", file }]);
      expect(given).toMatchObject({ error: "ServiceError" });
    });

    it("python: a stream that is cut three times is stored as it was, byte by byte", async () => {
      const script = new ScriptedStream();
      service.play = (socket) => script.play(socket);
      script.cuts = [100_000, 50_000, 300_000];
      script.lost = 1_234;
      const [told] = await run([
        { do: "stream", file: fileWith(folder, sound), configuration: PCM },
      ]);
      expect(told?.reconnects).toHaveLength(3);
      expect(told?.stored).toBe(sound.length);
      expect(script.stored.equals(sound)).toBe(true);
      expect(service.upgrades[0]?.url).toBe("/api/sessions/s1/stream");
      expect(script.configured[3]).toEqual({ type: "Configure", ...PCM, session_id: "s1" });
    });

    it("python: an utterance that is ended is ended behind its sound, again after a break, once", async () => {
      const script = new ScriptedStream();
      service.play = (socket) => script.play(socket);
      script.unanswered = 1;
      const order = { do: "stream", file: fileWith(folder, sound), configuration: PCM };
      const [told] = await run([{ ...order, piece: 1_000, finalizes: [64_000, 690_000] }]);
      expect(told?.reconnects).toHaveLength(1);
      expect(script.finalized).toEqual([64_000, expect.any(Number), 690_000]);
      expect(script.finalized[1]).toBeGreaterThanOrEqual(64_000);
      // More than 512 KiB are not sent ahead of what is stored.
      expect(script.finalized[1]).toBeLessThan(690_000);
      expect(script.stored.equals(sound)).toBe(true);
    });

    it("python: packets of Opus stay whole, and another process goes on where the service says", async () => {
      const script = new ScriptedStream();
      service.play = (socket) => script.play(socket);
      script.cuts = [2_000, 2_000];
      const opus = { encoding: "opus", sample_rate: 48_000, channels: 1 };
      const few = sound.subarray(0, 7_000);
      const file = fileWith(folder, few);
      await run([{ do: "stream", file, configuration: opus, piece: 70 }]);
      expect(script.stored.equals(few)).toBe(true);
      expect(script.messages.every(({ length }) => length === 70)).toBe(true);
      script.stored = Buffer.from(sound.subarray(0, 333_333));
      const [told] = await run([
        { do: "stream", file: fileWith(folder, sound), configuration: PCM, resume: true },
      ]);
      expect(told?.begins).toEqual([333_333]);
      expect(script.stored.equals(sound)).toBe(true);
    });

    it("python: when the right to a stream ends, what is not stored is handed back", async () => {
      const script = new ScriptedStream();
      script.cuts = [64_000];
      service.play = (socket, number) => {
        if (number === 1) return script.play(socket);
        socket.send(JSON.stringify({ type: "Error", message: "The key was revoked." }));
        socket.close(4401, "no");
      };
      const order = { do: "stream", file: fileWith(folder, sound), configuration: PCM };
      const [told] = await run([order]);
      expect(told).toMatchObject({ error: "AccessEnded", close_code: 4401 });
      expect(told?.message).toContain("The key was revoked.");
      const [offset, unstored] = [Number(told?.offset), Buffer.from(String(told?.unstored), "hex")];
      expect(offset).toBeGreaterThan(0);
      expect(unstored.equals(sound.subarray(offset, offset + unstored.length))).toBe(true);
      service.play = (socket) => socket.close(4409, "superseded");
      expect((await run([order]))[0]).toMatchObject({ error: "ChannelError", close_code: 4409 });
      service.refuse = () => ({ status: 404, body: refusal("There is no session s1.") });
      const [unknown] = await run([order]);
      expect(unknown?.message).toContain("There is no session s1. (HTTP 404)");
    });

    it("python: a session is followed through three cuts, each event once and in order", async () => {
      const at = (seq: number) => `at ${seq}`;
      const event = (seq: number) => ({ type: "Stub", session_id: "s1", seq, at: at(seq) });
      const end = { type: "SessionEnded", session_id: "s1", seq: 6, status: "completed" };
      const acts: { frames: (object | string)[]; code?: number }[] = [
        { frames: [event(1), event(2)], code: 1006 },
        { frames: [event(2), [event(3), event(4)], event(4)], code: 4410 },
        { frames: ["no frame", event(5), { ...end, seq: 7 }] },
        { frames: [event(6), event(7), { ...end, seq: 7 }] },
      ];
      const subscribed: Record<string, unknown>[] = [];
      service.play = (socket) => {
        socket.once("message", (data) => {
          subscribed.push(JSON.parse(String(data)));
          const { frames = [], code = undefined } = acts.shift() ?? {};
          for (const each of frames) {
            socket.send(typeof each === "string" ? each : JSON.stringify(each));
          }
          if (code === 1006) socket.terminate();
          else if (code !== undefined) socket.close(code);
        });
      };
      const [told] = await run([{ do: "follow", cursor: { seq: 0 } }]);
      const frames = told?.frames as { seq: number; at?: string }[];
      expect(frames.flatMap((each) => (each.at ? [each.seq] : []))).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect(subscribed.map(({ from_seq }) => from_seq)).toEqual([0, 2, 4, 5]);
      expect(subscribed[1]?.from_at).toBe(at(2));
      expect(told?.cursor).toEqual({ seq: 7, at: at(7) });
      acts.push({ frames: [event(8), event(9)] });
      const [part] = await run([{ do: "follow", cursor: { seq: 7, at: at(7) }, until: 8 }]);
      expect(part?.cursor).toEqual({ seq: 8, at: at(8) });
      acts.push({ frames: [], code: 4403 });
      const [closed] = await run([{ do: "follow" }]);
      expect(closed).toMatchObject({ error: "ChannelError", code: "forbidden", close_code: 4403 });
    });

    it("python: a webhook's message is taken by its signature alone", async () => {
      const secret = `whsec_${btoa("a secret of the service's")}`;
      const now = 1_768_469_400;
      const body = JSON.stringify({ type: "session.completed", data: { seq: 4 } });
      const headers = {
        "Webhook-Id": "m1",
        "webhook-timestamp": String(now),
        "webhook-signature": `v1,AAAA ${new Webhook(secret).sign("m1", new Date(now * 1_000), body)}`,
      };
      const good = { do: "verify", body, headers, secret, now };
      const told = await run([
        good,
        { ...good, secret: [`whsec_${btoa("another")}`, secret] },
        { ...good, body: body.replace("4", "5") },
        { ...good, secret: `whsec_${btoa("another")}` },
        { ...good, now: now + 301 },
        { ...good, headers: { ...headers, "webhook-timestamp": String(now + 1) } },
        { ...good, headers: { ...headers, "webhook-signature": "v1,%%%" } },
      ]);
      expect(told.slice(0, 2)).toEqual(
        Array(2).fill({ webhook_id: "m1", message: JSON.parse(body) }),
      );
      expect(told.slice(2).map(({ error }) => error)).toEqual(Array(5).fill("SignatureError"));
    });
  },
);
