import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
  toFile,
} from "openai";
import { beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { CompatCaller, conversationWav } from "../support/compat-caller.ts";
import { call } from "../support/paired-device.ts";
import { scriptedPcm } from "../support/spoken-script.ts";
import { until } from "../support/until.ts";

const SECONDS = 12;

/** OpenAI's own client, of which only the base address and the key are changed. */
describe("openai client", () => {
  let service: AppFixture;
  let caller: CompatCaller;
  let client: OpenAI;
  const wav = conversationWav(SECONDS, scriptedPcm());

  beforeAll(async () => {
    service = await AppFixture.shared();
    caller = await CompatCaller.open(service);
    client = await clientOf("transcribe");
  });

  async function clientOf(...scopes: string[]): Promise<OpenAI> {
    return withKey(await caller.key(...scopes));
  }

  function withKey(apiKey: string): OpenAI {
    const baseURL = `${service.api}/compat/openai/v1`;
    return new OpenAI({ apiKey, baseURL, maxRetries: 0, timeout: 180_000 });
  }

  const file = (bytes: Uint8Array = wav, name = "talk.wav") => toFile(bytes, name);

  it("json: gives the text, and the session stays, marked", async () => {
    const said = await client.audio.transcriptions.create({
      file: await file(),
      model: "whisper-1",
    });
    expect(said.text.toLowerCase()).toContain("hello");
    const [session] = await caller.sessions();
    expect(session).toMatchObject({ compat: "openai", status: "completed", title: "talk.wav" });
  });

  it("verbose_json: gives segments and words with their times", async () => {
    const said = await client.audio.transcriptions.create({
      file: await file(),
      model: "gpt-4o-transcribe",
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"],
      language: "en",
    });
    expect(said.language).toBe("english");
    expect(said.duration).toBe(SECONDS);
    const { words = [], segments = [] } = said;
    expect(words.length).toBeGreaterThan(5);
    expect(words.map(({ word }) => word).join(" ")).toBe(said.text);
    expect(segments.map(({ text }) => text).join(" ")).toBe(said.text);
    for (const { start, end } of [...words, ...segments]) {
      expect(start).toBeGreaterThanOrEqual(0);
      expect(end).toBeLessThanOrEqual(SECONDS);
      expect(end).toBeGreaterThan(start);
    }
  });

  it.each([
    ["text", /hello/i],
    ["srt", /^1\n00:00:0\d,\d{3} --> 00:00:\d\d,\d{3}\n.*hello/i],
    ["vtt", /^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:\d\d\.\d{3}\n.*hello/i],
  ] as const)("%s: gives a text of that form", async (response_format, form) => {
    const said = await client.audio.transcriptions.create({
      file: await file(),
      model: "whisper-1",
      response_format,
    });
    expect(String(said)).toMatch(form);
    expect(String(said)).not.toContain("S1");
  });

  it("diarized_json: tells who said what", async () => {
    const body = {
      file: await file(),
      model: "gpt-4o-transcribe-diarize",
      response_format: "diarized_json",
    } as const;
    const answer: unknown = await client.audio.transcriptions.create(body);
    const said = answer as OpenAI.Audio.TranscriptionDiarized;
    expect(said.segments[0]?.speaker).toBe("S1");
    expect(said.segments.map(({ text }) => text).join(" ")).toBe(said.text);
  });

  it("stream: tells the text as it comes", async () => {
    const events = await client.audio.transcriptions.create({
      file: await file(),
      model: "gpt-4o-transcribe",
      stream: true,
    });
    let text = "";
    let done: string | undefined;
    for await (const event of events) {
      if (event.type === "transcript.text.delta") text += event.delta;
      if (event.type === "transcript.text.done") done = event.text;
    }
    expect(done?.toLowerCase()).toContain("hello");
    expect(text).toBe(done);
  });

  it("Warning: names what has no effect", async () => {
    const { response } = await client.audio.transcriptions
      .create({ file: await file(), model: "whisper-1", temperature: 0.2, prompt: "Hi." })
      .withResponse();
    expect(response.headers.get("warning")).toBe(
      '299 - "without effect here: temperature, prompt"',
    );
  });

  it("store=false: leaves nothing", async () => {
    const before = await caller.sessions();
    const body = { file: await file(), model: "whisper-1", store: false };
    const said = await client.audio.transcriptions.create(body);
    expect(said.text.toLowerCase()).toContain("hello");
    expect(await caller.sessions()).toEqual(before);
  });

  it("store=false: leaves nothing either when the caller goes in the middle", async () => {
    const before = await caller.sessions();
    const leaving = new AbortController();
    const body = { file: await file(conversationWav(60)), model: "whisper-1", store: false };
    const said = client.audio.transcriptions.create(body, { signal: leaving.signal });
    const gone = expect(said).rejects.toThrow();
    const hasBegun = async () => (await caller.sessions()).length > before.length;
    await until(hasBegun, "the session", 60_000);
    leaving.abort();
    await gone;
    await until(
      async () => (await caller.sessions()).length === before.length,
      "the session to be deleted",
      60_000,
    );
  });

  it("models: lists them, and one", async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toContain("whisper-1");
    expect(ids).toContain("moonshine-tiny-en");
    expect((await client.models.retrieve("whisper-1")).object).toBe("model");
    await expect(client.models.retrieve("gpt-9")).rejects.toThrow(NotFoundError);
  });

  async function refusal(from: OpenAI, change: object = {}, bytes: Uint8Array = wav) {
    const body = { file: await file(bytes), model: "whisper-1", ...change };
    const error = await from.audio.transcriptions.create(body).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error instanceof APIError) return error;
    throw new Error(`No APIError: ${String(error)}`);
  }

  it("errors: a wrong key, and a key without the scope", async () => {
    const unknown = await refusal(withKey("sk-wrong"));
    expect(unknown).toBeInstanceOf(AuthenticationError);
    expect(unknown.type).toBe("authentication_error");
    const other = await refusal(await clientOf("sessions:read", "sessions:write"));
    expect(other).toBeInstanceOf(PermissionDeniedError);
    expect(other.message).toContain("transcribe");
  });

  it("errors: what is no audio, a model and a language that are not there", async () => {
    const noise = await refusal(client, {}, Buffer.from("this is a text, no audio"));
    expect(noise).toBeInstanceOf(BadRequestError);
    expect(noise.code).toBe("not_audio");
    const model = await refusal(client, { model: "dall-e-3" });
    expect(model).toBeInstanceOf(NotFoundError);
    expect([model.code, model.param]).toEqual(["model_not_found", "model"]);
    const language = await refusal(client, { language: "tlh" });
    expect(language).toBeInstanceOf(BadRequestError);
    expect(language.param).toBe("language");
    const format = await refusal(client, { response_format: "docx" });
    expect([format.status, format.param]).toEqual([400, "response_format"]);
  });

  it("errors: paths and methods that are not there, in the same form", async () => {
    await expect(client.images.generate({ prompt: "A cat" })).rejects.toThrow(NotFoundError);
    const response = await fetch(`${service.api}/compat/openai/v1/audio/transcriptions`);
    expect(response.status).toBe(405);
    expect(await response.json()).toMatchObject({ error: { code: "method_not_allowed" } });
  });

  it("keys: open nothing else, in no header", async () => {
    const key = await caller.key("transcribe");
    for (const headers of [{ authorization: `Bearer ${key}` }, { authorization: `Token ${key}` }]) {
      expect((await fetch(`${service.api}/sessions`, { headers })).status).toBe(401);
    }
    expect((await call(service.api, "GET", "/sessions", { key })).status).toBe(403);
  });
});
