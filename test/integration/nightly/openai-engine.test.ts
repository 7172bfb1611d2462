import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EngineSettings } from "../../../workers/speech/engine-schemas.ts";
import type { ReaderFactory } from "../../../workers/speech/reader.ts";
import {
  openReading,
  readAll,
  readersOf,
  someSpeech,
  textsOf,
  utterancesOf,
} from "../../support/engine-reading.ts";
import { TranscriptionServer } from "../../support/transcription-server.ts";

const LONG = 60_000;
/** Enough for some utterances of the conversation. */
const SECONDS = 14;

describe("an OpenAI-compatible engine", { timeout: LONG }, () => {
  let server: TranscriptionServer;
  const made: ReaderFactory[] = [];

  beforeEach(async () => {
    server = await TranscriptionServer.start();
  });
  afterEach(async () => {
    for (const readers of made.splice(0)) await readers.close();
    await server.close();
  });

  const settings = (rest: object = {}): EngineSettings => ({
    ...{ kind: "openai", name: "house", model: "small", languages: ["en"], url: server.url },
    ...{ key: "secret", retries: 2, try_ms: 5_000, utterance_ms: 20_000, ...rest },
  });

  async function readers(rest?: object): Promise<ReaderFactory> {
    const one = await readersOf(settings(rest));
    made.push(one);
    return one;
  }

  async function read(rest?: object) {
    return readAll(await openReading(await readers(rest), "house"), someSpeech(SECONDS));
  }

  async function failure(rest?: object): Promise<unknown> {
    return read(rest).then(
      () => "none",
      (error: unknown) => error,
    );
  }

  it("is sent each utterance, with the text before it, and its words get their times", async () => {
    server.answer = ({ samples }, count) => ({
      body: {
        text: `Number ${count}.`,
        words: [
          { word: "Number", start: 0.1, end: 0.4 },
          { word: `${count}`, start: 0.5, end: samples / 16_000 },
        ],
        segments: [{ start: 0, end: samples / 16_000, text: "", avg_logprob: -0.1 }],
      },
    });
    const utterances = utterancesOf(await read());
    expect(utterances.length).toBeGreaterThan(1);
    const [first] = utterances;
    const words = first?.segments[0]?.words ?? [];
    const start = first?.start ?? 0;
    expect(words).toMatchObject([
      { text: "Number", start: start + 1_600, end: start + 6_400 },
      { text: "1.", start: start + 8_000 },
    ]);
    expect(words[0]?.confidence).toBeCloseTo(Math.exp(-0.1));
    const [one, two] = server.requests;
    expect(one?.key).toBe("Bearer secret");
    expect(one?.samples).toBe((first?.end ?? 0) - start);
    expect(one?.fields).toMatchObject({ model: ["small"], language: ["en"] });
    expect([one?.fields.prompt, two?.fields.prompt]).toEqual([undefined, ["Number 1."]]);
  });

  it("is asked for less when it refuses the best answer, once and for all", async () => {
    server.answer = ({ fields }) =>
      fields.response_format?.[0] === "json"
        ? { body: { text: "plain words" } }
        : { status: 400, body: { error: "unknown response_format" } };
    const texts = textsOf(await read());
    expect(new Set(texts)).toEqual(new Set(["Plain words."]));
    expect(server.requests).toHaveLength(texts.length + 2);
  });

  it("may answer in plain text only", async () => {
    server.answer = ({ fields }) =>
      fields.response_format?.[0] === "text"
        ? { body: "plain words\n" }
        : { status: 422, body: { error: "no" } };
    expect(new Set(textsOf(await read()))).toEqual(new Set(["Plain words."]));
  });

  it.each([
    ["a 429", { status: 429, headers: { "retry-after": "0" }, body: {} }],
    ["a 503", { status: 503, body: {} }],
    ["half an answer", { half: '{"text": "hal' }],
    ["other JSON", { body: { hello: 1 } }],
    ["a connection closed in mid-word", "break"],
  ] as const)("is asked once more after %s", async (_name, fault) => {
    server.answer = (_request, count) => (count === 1 ? fault : { body: { text: "hello there" } });
    const texts = textsOf(await read());
    expect(new Set(texts)).toEqual(new Set(["Hello there."]));
    expect(server.requests).toHaveLength(texts.length + 1);
  });

  it("that never answers ends the reading in time, which goes on later", async () => {
    server.answer = () => "hang";
    const rest = { try_ms: 200, utterance_ms: 1_500 };
    expect(await failure(rest)).toMatchObject({
      code: "engine_unavailable",
      message: expect.stringContaining("no answer in time"),
    });
  });

  it("is not asked for ever", async () => {
    server.answer = () => ({ body: { hello: 1 } });
    expect(await failure({ retries: 1 })).toMatchObject({ code: "engine_unavailable" });
    expect(server.requests).toHaveLength(2);
  });

  it("that refuses our key is not asked again, and no answer of it is quoted", async () => {
    server.answer = () => ({ status: 401, body: { error: "key secret is wrong" } });
    const error = await failure();
    expect(error).toMatchObject({ code: "engine_unavailable" });
    expect(String(error)).toMatch(/refuses our key/);
    expect(String(error)).not.toMatch(/secret/);
    expect(server.requests).toHaveLength(1);
  });

  it("that refuses one utterance of many gives it up, not the engine", async () => {
    server.answer = (_request, count) =>
      count === 1 ? { body: { text: "hello" } } : { status: 400, body: {} };
    expect(await failure()).toMatchObject({ code: "bad_request" });
  });

  it("hears nothing in what its model calls no speech", async () => {
    const noise = { start: 0, end: 1, text: "Thank you.", avg_logprob: -1.4, no_speech_prob: 0.9 };
    server.answer = () => ({ body: { text: "Thank you.", segments: [noise] } });
    expect(textsOf(await read())).toEqual([]);
  });

  it("is asked by no more sessions at once than it may be", async () => {
    server.answer = () => ({ body: { text: "hello there" } });
    const shared = await readers({ requests: 1 });
    const open = () => openReading(shared, "house");
    const [one, two] = [await open(), await open()];
    const speech = someSpeech(SECONDS);
    const [first, second] = await Promise.all([readAll(one, speech), readAll(two, speech)]);
    expect(textsOf(first)).toEqual(textsOf(second));
    expect(server.most).toBe(1);
  });

  it("does not tell one session what another said", async () => {
    server.answer = () => ({ body: { text: "hello there" } });
    const shared = await readers();
    await readAll(await openReading(shared, "house"), someSpeech(SECONDS));
    const before = server.requests.length;
    await readAll(await openReading(shared, "house"), someSpeech(SECONDS));
    expect(server.requests[before]?.fields.prompt).toBeUndefined();
  });
});
