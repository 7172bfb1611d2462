import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DeepgramClient, DeepgramError } from "@deepgram/sdk";
import { beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { AppFixture } from "../support/app-fixture.ts";
import { CompatCaller, conversationWav } from "../support/compat-caller.ts";
import { call } from "../support/paired-device.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { until } from "../support/until.ts";

const SECONDS = 12;
const STEP_BYTES = 3_200;
const SOUNDS = join(import.meta.dirname, "../fixtures/sounds");

type Connect = Parameters<DeepgramClient["listen"]["v1"]["connect"]>[0];
type LiveSocket = Awaited<ReturnType<DeepgramClient["listen"]["v1"]["connect"]>>;

interface Message {
  type: string;
  is_final?: boolean;
  speech_final?: boolean;
  from_finalize?: boolean;
  start?: number;
  duration?: number;
  channel?: {
    alternatives: {
      transcript: string;
      words: { word: string; punctuated_word?: string; speaker?: number }[];
    }[];
  };
  [member: string]: unknown;
}

/** Deepgram's own client, of which only the base address and the key are changed. */
describe("deepgram client", () => {
  let service: AppFixture;
  let caller: CompatCaller;
  let key: string;
  let client: DeepgramClient;
  const wav = conversationWav(SECONDS, scriptedPcm());
  const pcm = scriptedPcm().subarray(0, SECONDS * 32_000);

  beforeAll(async () => {
    service = await AppFixture.shared();
    caller = await CompatCaller.open(service);
    key = await caller.key("transcribe");
    client = withKey(key);
  });

  function withKey(apiKey: string): DeepgramClient {
    return new DeepgramClient({ apiKey, baseUrl: `${service.api}/compat/deepgram`, maxRetries: 0 });
  }

  it("file: gives words with times and voices, and the session stays, marked", async () => {
    const options = { model: "nova-3", smart_format: true, diarize: true, utterances: true };
    const heard = await client.listen.v1.media.transcribeFile(wav, options);
    if (!("results" in heard)) throw new Error("No results.");
    const [alternative] = heard.results.channels[0]?.alternatives ?? [];
    expect(alternative?.transcript?.toLowerCase()).toContain("hello");
    const [word] = alternative?.words ?? [];
    expect(word).toMatchObject({ speaker: 0, punctuated_word: expect.stringMatching(/^[A-Z]/) });
    expect(word?.end).toBeGreaterThan(word?.start ?? 0);
    expect(heard.results.utterances?.[0]?.transcript).toBeTruthy();
    expect(heard.metadata.duration).toBe(SECONDS);
    const [session] = await caller.sessions();
    expect(session).toMatchObject({ id: heard.metadata.request_id, compat: "deepgram" });
  });

  it("file: raw audio by its parameters, and what has no effect is named", async () => {
    const query = "encoding=linear16&sample_rate=16000&topics=true&store=false";
    const response = await fetch(`${service.api}/compat/deepgram/v1/listen?${query}`, {
      method: "POST",
      headers: { authorization: `Token ${key}`, "content-type": "application/octet-stream" },
      body: new Uint8Array(pcm),
    });
    expect(response.status).toBe(200);
    expect(response.headers.get("warning")).toBe('299 - "without effect here: topics"');
  });

  async function refusal(from: DeepgramClient, bytes: Buffer, options = {}) {
    const error = await from.listen.v1.media.transcribeFile(bytes, options).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error instanceof DeepgramError) return error;
    throw new Error(`No DeepgramError: ${String(error)}`);
  }

  it("file: errors have Deepgram's form", async () => {
    const unknown = await refusal(withKey("wrong"), wav);
    expect(unknown.statusCode).toBe(401);
    expect(unknown.body).toMatchObject({ err_code: "INVALID_AUTH" });
    const other = await refusal(withKey(await caller.key("query")), wav);
    expect(other.statusCode).toBe(403);
    const noise = await refusal(client, Buffer.from("a text, no audio"));
    expect(noise).toMatchObject({ statusCode: 400, body: { err_code: "Bad Request" } });
    const model = await refusal(client, wav, { model: "parrot" });
    expect(model).toMatchObject({ statusCode: 400, body: { err_code: "INVALID_QUERY_PARAMETER" } });
    const language = await refusal(client, wav, { language: "tlh" });
    expect(language.statusCode).toBe(400);
    const url = await client.listen.v1.media
      .transcribeUrl({ url: "https://example.org/talk.wav" })
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(url).toMatchObject({ statusCode: 400 });
    expect(String(url)).toContain("Nothing is fetched");
  });

  class Stream {
    readonly messages: Message[] = [];
    readonly socket: LiveSocket;
    readonly closed: Promise<{ code: number }>;

    constructor(socket: LiveSocket) {
      this.socket = socket;
      socket.on("message", (message) => this.messages.push(message as unknown as Message));
      this.closed = new Promise((resolve) => socket.on("close", (event) => resolve(event)));
      socket.on("error", () => {});
    }

    of(type: string): Message[] {
      return this.messages.filter((message) => message.type === type);
    }

    finals(): string {
      const finals = this.of("Results").filter(({ is_final }) => is_final === true);
      return finals.map((each) => each.channel?.alternatives[0]?.transcript ?? "").join(" ");
    }
  }

  async function open(options: Partial<Connect> & Record<string, unknown> = {}): Promise<Stream> {
    const socket = await client.listen.v1.connect({
      model: "nova-3",
      reconnectAttempts: 0,
      ...options,
    } as unknown as Connect);
    const stream = new Stream(socket);
    socket.connect();
    await socket.waitForOpen();
    return stream;
  }

  const RAW = { encoding: "linear16", sample_rate: 16_000 };

  function send({ socket }: Stream, bytes: Buffer, step = STEP_BYTES): void {
    for (let at = 0; at < bytes.byteLength; at += step) {
      socket.sendMedia(bytes.subarray(at, at + step));
    }
  }

  it("live: tells interim results, finals, utterance ends and metadata", async () => {
    const stream = await open({
      ...RAW,
      interim_results: "true",
      utterance_end_ms: 1_000,
      vad_events: "true",
      punctuate: "true",
      diarize: "true",
    });
    // Interim results are of what is said now, so the beginning comes as it is spoken.
    const beginning = 4 * 32_000;
    for (let at = 0; at < beginning; at += STEP_BYTES) {
      send(stream, pcm.subarray(at, at + STEP_BYTES));
      await new Promise((wake) => setTimeout(wake, STEP_BYTES / 32));
    }
    await until(() => stream.of("Results").some((each) => each.is_final === false), "words");
    send(stream, pcm.subarray(beginning));
    stream.socket.sendKeepAlive({ type: "KeepAlive" });
    stream.socket.sendCloseStream({ type: "CloseStream" });
    expect((await stream.closed).code).toBe(1000);
    const results = stream.of("Results");
    expect(results.some(({ is_final }) => is_final === false)).toBe(true);
    expect(results.some(({ is_final }) => is_final === true)).toBe(true);
    expect(stream.finals().toLowerCase()).toContain("hello");
    const final = results.find(({ is_final }) => is_final === true);
    expect(final).toMatchObject({ speech_final: true, channel_index: [0, 1] });
    expect(final?.channel?.alternatives[0]?.words[0]).toMatchObject({ speaker: 0 });
    expect(stream.of("SpeechStarted").length).toBeGreaterThan(0);
    expect(stream.messages.at(-1)).toMatchObject({ type: "Metadata", duration: SECONDS });
    const [session] = await caller.sessions();
    expect(session).toMatchObject({ compat: "deepgram", status: "completed" });
    expect(session?.id).toBe(stream.messages.at(-1)?.request_id);
  });

  it("live: Finalize brings a final before the end", async () => {
    const stream = await open(RAW);
    send(stream, pcm.subarray(0, 6 * 32_000));
    stream.socket.sendFinalize({ type: "Finalize" });
    const isAnswered = () => stream.of("Results").some((each) => each.from_finalize === true);
    await until(isAnswered, "a final", 60_000);
    expect(stream.of("Results").every(({ is_final }) => is_final === true)).toBe(true);
    stream.socket.sendCloseStream({ type: "CloseStream" });
    expect((await stream.closed).code).toBe(1000);
  });

  it.each([
    ["WAV", "", 12],
    ["Opus in WebM", "left.webm", 0],
    ["Opus in Ogg", "mono.opus", 0],
  ])("live: %s tells itself what it is, cut anywhere", async (_what, name, seconds) => {
    const bytes = name === "" ? conversationWav(seconds) : readFileSync(join(SOUNDS, name));
    const stream = await open({ store: "false" });
    send(stream, bytes, 977);
    stream.socket.sendCloseStream({ type: "CloseStream" });
    expect((await stream.closed).code).toBe(1000);
    const { duration = 0 } = stream.messages.at(-1) ?? {};
    expect(duration).toBeGreaterThan(0.5);
    if (seconds > 0) expect(duration).toBe(seconds);
  });

  it("live: store=false leaves nothing, also when the client goes in the middle", async () => {
    const before = await caller.sessions();
    const ended = await open({ ...RAW, store: "false" });
    send(ended, pcm.subarray(0, 4 * 32_000));
    ended.socket.sendCloseStream({ type: "CloseStream" });
    await ended.closed;
    const cut = await open({ ...RAW, store: "false" });
    send(cut, pcm);
    const hasBegun = async () => (await caller.sessions()).length > before.length;
    await until(hasBegun, "the session", 60_000);
    cut.socket.close();
    const isGone = async () => (await caller.sessions()).length === before.length;
    await until(isGone, "the session to be deleted", 60_000);
  });

  it("live: a client that goes stops its session, and what it had sent stays", async () => {
    const stream = await open({ ...RAW, interim_results: "true" });
    send(stream, pcm);
    await until(() => stream.of("Results").length > 0, "a word", 60_000);
    const [session] = await caller.sessions();
    stream.socket.close();
    const isDone = async () => (await caller.sessions())[0]?.status === "completed";
    await until(isDone, "the session to be completed", 60_000);
    const path = `/sessions/${session?.id}/segments`;
    const said = await call<{ items: { text: string }[] }>(service.api, "GET", path, {
      token: caller.token,
    });
    expect(said.body.items[0]?.text.toLowerCase()).toContain("hello");
  });

  it("live: what is no audio is said, and ends the stream", async () => {
    const stream = await open();
    send(stream, Buffer.from("this is no audio, but a text that goes on and on. ".repeat(10)));
    expect((await stream.closed).code).toBe(1008);
    expect(stream.of("Error")[0]).toMatchObject({ variant: "DATA-0000" });
  });

  /** The status and body of a refused upgrade; a WebSocket that opens is closed. */
  async function upgrade(query: string, protocols: string[] = [], headers = {}) {
    const address = `${service.api.replace(/^http/, "ws")}/compat/deepgram/v1/listen${query}`;
    const socket = new WebSocket(address, protocols, { headers });
    socket.on("error", () => {});
    const opened = once(socket, "open").then(() => ({ status: 101, protocol: socket.protocol }));
    const refused = once(socket, "unexpected-response").then(async ([, response]) => {
      let text = "";
      for await (const chunk of response) text += String(chunk);
      return { status: Number(response.statusCode), body: JSON.parse(text) };
    });
    opened.catch(() => {});
    refused.catch(() => {});
    const answer = await Promise.race([opened, refused]);
    socket.terminate();
    return answer;
  }

  it("live: keys come as browsers send them, and the key is not said back", async () => {
    expect(await upgrade("", ["token", key])).toEqual({ status: 101, protocol: "token" });
  });

  it("live: refusals have Deepgram's form", async () => {
    const authorization = `Token ${key}`;
    expect(await upgrade("", [], { authorization: "Token wrong" })).toMatchObject({
      status: 401,
      body: { err_code: "INVALID_AUTH" },
    });
    expect(await upgrade("?encoding=amr-nb", [], { authorization })).toMatchObject({
      status: 400,
      body: { err_code: "INVALID_QUERY_PARAMETER" },
    });
    expect(await upgrade("?encoding=linear16", [], { authorization })).toMatchObject({
      status: 400,
    });
    expect(await upgrade("?language=tlh", [], { authorization })).toMatchObject({ status: 400 });
  });

  it("live: the stream of a revoked key ends", async () => {
    const issued = await caller.issue("transcribe");
    const socket = await withKey(issued.key).listen.v1.connect({
      model: "nova-3",
      reconnectAttempts: 0,
    } as unknown as Connect);
    const stream = new Stream(socket);
    socket.connect();
    await socket.waitForOpen();
    await fetch(`${service.api}/api-keys/${issued.id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${caller.token}` },
    });
    expect((await stream.closed).code).toBe(1008);
  });
});
