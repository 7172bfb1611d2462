import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ForbiddenError, NotFoundError, SignatureError } from "../../src/client/errors.ts";
import type { ServerFrame } from "../../src/client/frames.ts";
import { VoiceClient } from "../../src/client/node.ts";
import { verifyWebhook } from "../../src/client/webhook.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { conversationWav } from "../support/compat-caller.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import { call } from "../support/paired-device.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { until } from "../support/until.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;
/** Half a second of sound. */
const PIECE = 16_000;
const QUICK = { attempts: 20, firstMs: 20, longestMs: 200 };

/** A stranger's hour with the package, over a line that breaks. */
describe("client package", () => {
  let service: AppFixture;
  let owner: WorkspaceOwner;
  let proxy: FaultProxy;
  let viewerProxy: FaultProxy;
  let apiKey: string;
  let voice: VoiceClient;

  beforeAll(async () => {
    service = await AppFixture.start({ WEBHOOK_ALLOW_PRIVATE: "1" });
    owner = await newOwner(service);
    const port = Number(new URL(service.ready.base_url).port);
    proxy = await FaultProxy.start("client", port);
    viewerProxy = await FaultProxy.start("viewer", port);
    apiKey = await newKey(["sessions:read", "sessions:write", "query"]);
    voice = new VoiceClient({ baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey, backOff: QUICK });
  });
  afterAll(async () => {
    await proxy?.stop();
    await viewerProxy?.stop();
    await service?.stop();
  });

  async function newKey(scopes: string[]): Promise<string> {
    const body = { workspace_id: owner.workspaceId, name: "Program", scopes };
    const { token } = owner;
    const made = await call<{ key: string }>(service.api, "POST", "/api-keys", { token, body });
    return made.body.key;
  }

  /** What the session's sound is, bit by bit. */
  async function soundOf(id: string): Promise<Buffer> {
    const headers = { authorization: `Bearer ${owner.token}` };
    const answer = await fetch(`${service.api}/sessions/${id}/audio`, { headers });
    return Buffer.from(await answer.arrayBuffer()).subarray(44);
  }

  it("client package: a file over a line that is cut is stored whole, read, asked and found again", async () => {
    const wav = conversationWav(60, scriptedPcm());
    const { id } = await voice.createSession({ title: "File", external_id: "file-1", tags: ["a"] });
    const cuts: Promise<unknown>[] = [];
    const upload = await voice.upload(id, new Blob([new Uint8Array(wav)]), {
      filename: "talk.wav",
      mediaType: "audio/wav",
      backOff: QUICK,
      // The rest is under way when this line is cut.
      onProgress: () =>
        cuts.length > 0 || cuts.push(proxy.inflict({ kind: "half-open", ms: 200 }, 20_000)),
    });
    await Promise.all(cuts);
    expect(upload).toMatchObject({ status: "stored", size: wav.byteLength });
    expect(proxy.told("half-open").bytes).toBeGreaterThan(0);
    expect((await voice.ended(id, { everyMs: 50 })).status).toBe("completed");
    expect((await soundOf(id)).equals(wav.subarray(44))).toBe(true);

    const said: string[] = [];
    for await (const { text } of voice.segments(id)) said.push(text);
    expect(said.length).toBeGreaterThan(3);
    expect(said.join(" ")).toContain("hello");
    const completeness = await voice.completeness(id);
    expect(completeness).toMatchObject({ complete: true, missing: [] });
    const answer = await voice.ask(id, "When did the team finish?");
    expect(answer.citations.length).toBeGreaterThan(0);
    expect(answer.citations.every(({ session_id }) => session_id === id)).toBe(true);
    const found: string[] = [];
    for await (const session of voice.listSessions({ external_id: "file-1" })) {
      found.push(session.id);
    }
    expect(found).toEqual([id]);
    const receipt = await voice.deleteSession(id);
    expect(receipt.removed.segments).toBe(said.length);
    await expect(voice.getSession(id)).rejects.toThrow(NotFoundError);
  });

  it("client package: a stream that is cut three times and a follower that is cut lose and repeat nothing", async () => {
    const pcm = scriptedPcm().subarray(0, 40 * 32_000);
    const { id } = await voice.createSession({ title: "Stream" });
    const seen: ServerFrame[] = [];
    const breaks = { follow: 0, stream: 0 };
    const reader = new VoiceClient({ baseUrl: `http://127.0.0.1:${viewerProxy.port}`, apiKey });
    const following = (async () => {
      const options = { cursor: { seq: 0 }, backOff: QUICK, onReconnect: () => breaks.follow++ };
      for await (const frame of reader.follow(id, options)) {
        seen.push(frame);
        if (frame.type === "SessionEnded") return;
      }
    })();
    const stream = voice.stream(id, PCM, { backOff: QUICK, onReconnect: () => breaks.stream++ });
    let storedBefore = 0;
    for (let at = 0; at < pcm.length; at += PIECE) {
      await stream.write(pcm.subarray(at, at + PIECE));
      const quarter = Math.floor(pcm.length / 4 / PIECE);
      const turn = at / PIECE;
      if (turn > 0 && turn % quarter === 0 && turn < 4 * quarter) {
        // Since the last cut something came, so there is a connection.
        await until(() => stream.stored > storedBefore, "the stream to be stored", 30_000);
        storedBefore = stream.stored;
        const cut = proxy.inflict({ kind: "half-open", ms: 100 }, 20_000);
        // What goes from now on until the end of the cut leads nowhere.
        await stream.write(pcm.subarray(at + PIECE, at + 2 * PIECE));
        at += PIECE;
        expect((await cut).bytes).toBeGreaterThan(0);
      }
    }
    await stream.end();
    expect(stream.stored).toBe(pcm.length);
    expect(breaks.stream).toBeGreaterThanOrEqual(3);
    await until(() => seen.length > 3, "what the follower gets", 30_000);
    await viewerProxy.inflict({ kind: "cut", ms: 0 }, 20_000);
    await voice.stopSession(id);
    await following;
    expect((await voice.ended(id, { everyMs: 50 })).status).toBe("completed");

    expect((await soundOf(id)).equals(pcm)).toBe(true);
    expect(breaks.follow).toBeGreaterThan(0);
    const seqs = seen.flatMap((frame) => ("at" in frame ? [frame.seq] : []));
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    const finals = seen.flatMap((frame) =>
      frame.type === "Results" && frame.is_final ? [[frame.segment_id, frame.transcript]] : [],
    );
    const stored: string[][] = [];
    for await (const { id: segment, text } of voice.segments(id)) stored.push([segment, text]);
    expect(stored.length).toBeGreaterThan(3);
    expect(finals).toEqual(stored);
  });

  it("client package: another process goes on with a stream and a follower where they were", async () => {
    const pcm = scriptedPcm().subarray(0, 12 * 32_000);
    const { id } = await voice.createSession();
    const gone = new AbortController();
    const first = voice.stream(id, PCM, { signal: gone.signal });
    await first.write(pcm.subarray(0, 7 * 32_000));
    await until(() => first.stored > 0, "some of it to be stored", 30_000);
    gone.abort();
    await expect(first.end()).rejects.toThrow(/abort/i);

    let offset: number | undefined;
    const second = voice.stream(id, PCM, {
      resume: true,
      onBegin: (_id, from) => {
        offset ??= from;
      },
    });
    await until(() => offset !== undefined, "the stream to begin", 30_000);
    expect(offset).toBeGreaterThan(0);
    await second.write(pcm.subarray(offset));
    await second.end();
    await voice.stopSession(id);
    await voice.ended(id, { everyMs: 50 });
    expect((await soundOf(id)).equals(pcm)).toBe(true);

    const part = voice.follow(id, { cursor: { seq: 0 } });
    const seqs: number[] = [];
    for await (const frame of part) if ("at" in frame && seqs.push(frame.seq) === 3) break;
    const cursor = JSON.parse(JSON.stringify(part.cursor));
    for await (const frame of voice.follow(id, { cursor })) {
      if ("at" in frame) seqs.push(frame.seq);
      if (frame.type === "SessionEnded") break;
    }
    expect(seqs.length).toBeGreaterThan(4);
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
  });

  it("client package: a hook's message is verified, and one that was touched is not taken", async () => {
    const receiver = await WebhookReceiver.open();
    try {
      const path = `/workspaces/${owner.workspaceId}/webhooks`;
      const { token } = owner;
      const body = { url: receiver.url, event_types: ["session.started"] };
      const made = await call<{ secret: string }>(service.api, "POST", path, { token, body });
      const { secret } = made.body;
      const { id } = await voice.createSession({ title: "Hook" });
      await receiver.got(1, 30_000);
      const [received] = receiver.received;
      const { body: text = "", headers = {} } = received ?? {};
      const message = await verifyWebhook(text, headers, secret);
      expect(message).toMatchObject({ type: "session.started", data: { session_id: id } });
      expect(message.webhookId).toBe(headers["webhook-id"]);
      const touched = text.replace(id, crypto.randomUUID());
      await expect(verifyWebhook(touched, headers, secret)).rejects.toThrow(SignatureError);
      await expect(verifyWebhook(text, headers, `${secret}A`)).rejects.toThrow(SignatureError);
    } finally {
      await receiver.close();
    }
  });

  it("client package: what a key may not do is an error of its class, with the service's words", async () => {
    const reading = await newKey(["sessions:read"]);
    const reader = new VoiceClient({ baseUrl: service.ready.base_url, apiKey: reading });
    const refused = await reader.createSession().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ForbiddenError);
    expect(refused).toMatchObject({ code: "forbidden", isRetryable: false });
    const unknown = crypto.randomUUID();
    await expect(voice.stream(unknown, PCM).end()).rejects.toMatchObject({ closeCode: 4404 });
    const follow = voice.follow(unknown)[Symbol.asyncIterator]().next();
    await expect(follow).rejects.toMatchObject({ code: "not_found" });
    const person = new VoiceClient({
      baseUrl: service.ready.base_url,
      token: (isRefused) => (isRefused ? owner.token : "eyJhbGciOiJub25lIn0.e30.x"),
    });
    const sessions: string[] = [];
    for await (const session of person.listSessions({ limit: 2 })) sessions.push(session.title);
    expect(sessions).toContain("Stream");
  });
});
