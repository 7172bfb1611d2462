import { describe, expect, it } from "vitest";
import type { ServicePrincipal } from "../../../src/access/principal.ts";
import { wavFileHeader } from "../../../src/base/audio/wav.ts";
import { createDeferred, type Deferred } from "../../../src/base/deferred.ts";
import { WholeFiles } from "../../../src/conversations/recording/whole-files.ts";
import { presentDeepgram } from "../../../src/openai-deepgram/deepgram-answers.ts";
import { readDeepgramQuery } from "../../../src/openai-deepgram/deepgram-query.ts";
import { orderOf } from "../../../src/openai-deepgram/deepgram-routes.ts";
import { FileCalls } from "../../../src/openai-deepgram/file-calls.ts";
import { openLiveAudio } from "../../../src/openai-deepgram/live-audio.ts";
import { LiveCall, type LiveCallPorts } from "../../../src/openai-deepgram/live-call.ts";
import type { ServerFrame } from "../../../src/wire/live-frames.ts";
import { MOONSHINE } from "../../../src/wire/speech-engines.ts";

const RATE = 16_000;
const order = readDeepgramQuery(
  { multichannel: "true", utterances: "true", diarize: "true" },
  [MOONSHINE],
  false,
);

function segment(label: string, text: string, from: number) {
  const [start, end] = [from * RATE, (from + 1) * RATE];
  const words = [{ text, start, end, confidence: 0.5 }];
  return { id: `${label} ${from}`, label, text, words, start, end, confidence: 0.5, revision: 1 };
}

const nobody = {} as ServicePrincipal;

function began(channel?: number): ServerFrame {
  const heardOn = channel === undefined ? {} : { channel };
  return { type: "SpeechStarted", session_id: "id", start: 0, ...heardOn };
}

function final(text: string, channel: number | undefined, start: number): ServerFrame {
  return {
    ...{ type: "Results", session_id: "id", segment_id: text, seq: 1, at: "", revision: 1 },
    ...{ start, duration: 1, transcript: text, confidence: 1, speaker: "S1", words: [] },
    ...{ is_final: true, ...(channel !== undefined && { channel }) },
  };
}

function utteranceEnd(end: number): ServerFrame {
  return { type: "UtteranceEnd", session_id: "id", end };
}

/** What a client is told whose session has so many channels; it asks for a final at once. */
async function liveMessages(
  channels: number,
  finalized: Deferred<void>,
  next: () => Promise<ServerFrame[]>,
): Promise<object[]> {
  const sent: object[] = [];
  const closed = createDeferred<void>();
  const stream = { push: () => {}, finalize: () => finalized.resolve(), close: async () => {} };
  const session = { id: "id", language: "en", channels };
  const ports = {
    sessions: { begin: async () => session, stop: async () => {}, leave: async () => {} },
    streams: { open: async () => ({ stream }) },
    frames: { follow: () => ({ next, close: () => {} }) },
    names: async () => [],
    log: { error: () => {} },
  } as unknown as LiveCallPorts;
  const raw = { encoding: "s16le" as const, sampleRate: RATE, channels: 2 };
  const call = new LiveCall(ports, {
    caller: nobody,
    order: { ...order, raw, vadEvents: true },
    line: { send: (message) => void sent.push(message), close: () => closed.resolve() },
  });
  call.hear(Buffer.alloc(64));
  if (channels > 1) call.finalize();
  await closed.promise;
  return sent;
}

describe("multichannel of Deepgram's clients", () => {
  it("a recording has the words of each channel by themselves, whoever spoke first", () => {
    expect(order.warning).toBeUndefined();
    const segments = [
      segment("S1", "right", 0),
      segment("S2", "left", 0),
      segment("S1", "again", 2),
    ];
    const said = {
      ...{ sessionId: "id", language: "en", engine: "e", durationSeconds: 3, segments },
      ...{ channels: 3, channelOf: new Map(Object.entries({ S1: 1, S2: 0 })) },
    };
    const { metadata, results } = presentDeepgram(said, order, { sha256: "", createdAt: 0 });
    expect(metadata.channels).toBe(3);
    const texts = results.channels.map(({ alternatives }) => alternatives[0]?.transcript);
    expect(texts).toEqual(["left", "right again", ""]);
    expect(results.channels[1]?.alternatives[0]?.words).toMatchObject([
      { speaker: 0 },
      { start: 2 },
    ]);
    expect(results.utterances).toMatchObject([{ channel: 1 }, { channel: 0 }, { channel: 1 }]);
  });

  it("raw files have up to eight channels, live streams two", () => {
    const query = { encoding: "linear16", sample_rate: "8000", channels: "8" };
    expect(readDeepgramQuery(query, [MOONSHINE], false).raw?.channels).toBe(8);
    expect(() => readDeepgramQuery(query, [MOONSHINE], true)).toThrow("from 1 to 2");
  });

  it.each([
    [2, "begun"],
    [6, "may have 15 min"],
  ])("a compressed recording of 20 min in %d channels: %s", async (channels, answer) => {
    const frames = 20 * 60 * RATE;
    const sound = { mediaType: "audio/flac", frames, sampleRate: RATE, channels, isJoined: false };
    const files = new WholeFiles({
      sounds: { measure: async () => sound, starts: async () => [] },
    } as unknown as ConstructorParameters<typeof WholeFiles>[0]);
    const sessions = { begin: () => Promise.reject(new Error("begun")) };
    const tenants = { ofWorkspace: async () => "owner" };
    const calls = new FileCalls({ files, sessions, tenants } as unknown as ConstructorParameters<
      typeof FileCalls
    >[0]);
    const data = Buffer.from("fLaC".padEnd(64, "\0"));
    const upload = {
      ...{ content: { kind: "memory" as const, data }, bytes: data.byteLength, sha256: "" },
      ...{ mediaType: "audio/flac", filename: "talk", fields: {} },
    };
    const { signal } = new AbortController();
    const call = calls.begin(nobody, upload, orderOf(order), signal);
    await expect(call).rejects.toThrow(answer);
  });

  it("live messages name their channel; a Finalize is answered for each", async () => {
    const finalized = createDeferred<void>();
    const rounds: ServerFrame[][] = [
      [began(1), final("left", 1, 0), final("right", 0, 1), utteranceEnd(3), final("on", 1, 3)],
      [{ type: "SessionEnded", session_id: "id", status: "completed", seq: 9 }],
    ];
    const sent = await liveMessages(2, finalized, async () => {
      await finalized.promise;
      return rounds.shift() ?? [];
    });
    expect(sent).toMatchObject([
      { type: "SpeechStarted", channel: [1, 2] },
      { type: "Results", channel_index: [0, 2], from_finalize: true },
      { type: "Results", channel_index: [1, 2], from_finalize: true },
      { type: "Results", channel_index: [1, 2], from_finalize: false },
      { type: "Metadata", channels: 2 },
    ]);
  });

  it("live messages of mixed channels tell of one", async () => {
    const frames = [began(), final("both", undefined, 0)];
    const end = { type: "SessionEnded", session_id: "id", status: "completed", seq: 9 } as const;
    const sent = await liveMessages(1, createDeferred<void>(), async () => [...frames, end]);
    expect(sent).toMatchObject([
      { type: "SpeechStarted", channel: [0, 1] },
      { type: "Results", channel_index: [0, 1], from_finalize: false },
      { type: "Metadata", channels: 1 },
    ]);
  });

  it("live samples of another kind keep both channels, and more are mixed", () => {
    const raw = { encoding: "alaw" as const, sampleRate: 8_000, channels: 2 };
    const opened = openLiveAudio(new Uint8Array(64), raw, false);
    expect(opened?.audio.settings).toMatchObject({ encoding: "pcm_s16le", channels: 2 });
    // 0xd5 and 0x55 are the smallest samples of A-law, above and below zero.
    const [samples] = opened?.audio.take(Uint8Array.of(0xd5, 0x55, 0xd5, 0x55)) ?? [];
    expect([...new Int16Array(Uint8Array.from(samples ?? []).buffer)]).toEqual([8, -8, 8, -8]);
    const header = wavFileHeader({ sampleRate: RATE, channels: 3, frames: 20 });
    const three = openLiveAudio(Buffer.concat([header, Buffer.alloc(120)]), undefined, false);
    expect(three?.audio.settings).toMatchObject({ channels: 1 });
    expect(three?.audio.take(three.rest)[0]?.byteLength).toBe(40);
  });
});
