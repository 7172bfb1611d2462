import { describe, expect, it } from "vitest";
import type { ServicePrincipal } from "../../../src/access/principal.ts";
import { silentLog } from "../../../src/base/log.ts";
import { readDeepgramQuery } from "../../../src/openai-deepgram/deepgram-query.ts";
import { LiveCall, type LiveCallPorts } from "../../../src/openai-deepgram/live-call.ts";
import type { ServerFrame } from "../../../src/wire/live-frames.ts";
import { MOONSHINE } from "../../../src/wire/speech-engines.ts";
import { until } from "../../support/until.ts";

const session_id = "01a20000-0000-7000-8000-000000000001";
const RAW = { encoding: "linear16", sample_rate: "16000", utterance_end_ms: "1000" };

const words = (start: number, end: number): ServerFrame =>
  ({
    type: "Results",
    session_id,
    is_final: true,
    start,
    duration: end - start,
    transcript: "hello",
    confidence: 1,
    speaker: "S1",
    words: [{ word: "hello", start, end, confidence: 1, speaker: "S1" }],
  }) as unknown as ServerFrame;

/** The reader is so many seconds behind what has come. */
const heartbeat = (received: number, behind: number): ServerFrame => ({
  ...{ type: "Heartbeat", session_id, seq: 1, gaps: 0, audio_finalised: 0 },
  ...{ audio_received: received, lag_ms: behind * 1_000 },
});

/** A live call whose session tells these frames, each group at once. */
function call() {
  const told: { type: string; [name: string]: unknown }[] = [];
  const streamed: (number | string)[] = [];
  const waiting: ServerFrame[][] = [];
  const ports = {
    sessions: {
      begin: async () => ({ id: session_id, language: "en", channels: 1, store: true }),
      stop: async () => {},
      leave: async () => {},
    },
    streams: {
      open: async () => ({
        stream: {
          push: ({ byteLength }: Uint8Array) => void streamed.push(byteLength),
          finalize: () => void streamed.push("finalize"),
          close: async () => void streamed.push("close"),
        },
      }),
    },
    frames: {
      follow: () => ({
        next: async () => {
          await new Promise(setImmediate);
          return waiting.shift() ?? [];
        },
        close() {},
      }),
    },
    names: async () => [],
    engine: async () => MOONSHINE.name,
    log: silentLog,
  } as unknown as LiveCallPorts;
  const line = { send: (message: object) => void told.push(message as never), close() {} };
  const order = readDeepgramQuery(RAW, [MOONSHINE], true);
  const live = new LiveCall(ports, { caller: {} as ServicePrincipal, order, line });
  const heard = (type: string) => until(() => told.some((each) => each.type === type), type);
  return {
    live,
    told,
    streamed,
    heard,
    tell: (...frames: ServerFrame[]) => void waiting.push(frames),
  };
}

const seconds = (count: number) => Buffer.alloc(count * 32_000);

describe("live calls of Deepgram's clients", () => {
  it("name the engine that reads them", async () => {
    const { live, told, heard, tell } = call();
    live.hear(seconds(1));
    tell({ type: "JobStatus", session_id } as unknown as ServerFrame, words(0, 0.5));
    await heard("Results");
    tell({ type: "SessionEnded", session_id } as unknown as ServerFrame);
    await heard("Metadata");
    const { name } = MOONSHINE;
    expect(told.at(-1)).toMatchObject({ models: [name], model_info: { [name]: {} } });
  });

  it("take a large message in steps, and what is asked behind it after the last one", async () => {
    const { live, streamed } = call();
    live.hear(seconds(1));
    await until(() => streamed.length === 1, "the stream");
    live.hear(Buffer.alloc(100 * 1024));
    live.finalize();
    live.hear(Buffer.alloc(10));
    live.finish();
    // Others have their turns before the second step.
    expect(streamed).toEqual([32_000, 32_768]);
    await until(() => streamed.includes("close"), "the end");
    expect(streamed).toEqual([...[32_000, 32_768, 32_768, 32_768, 4_096, "finalize", 10, "close"]]);
    live.shut(1000, "");
  });

  it("refuse more than they can hold, and forget it", async () => {
    const { live, told, streamed } = call();
    live.hear(seconds(1));
    await until(() => streamed.length === 1, "the stream");
    for (let times = 0; times < 5; times += 1) live.hear(Buffer.alloc(1024 * 1024));
    expect(told.at(-1)).toMatchObject({ description: expect.stringContaining("faster") });
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(streamed.filter((each) => typeof each === "number")).toEqual([32_000, 32_768]);
  });

  it("tell no UtteranceEnd for audio that came and was not read", async () => {
    const { live, told, streamed, heard, tell } = call();
    live.hear(seconds(4));
    const taken = () => streamed.reduce<number>((sum, each) => sum + (Number(each) || 0), 0);
    await until(() => taken() === 128_000, "the sound to be taken, in steps");
    tell(words(0.3, 1.5));
    await heard("Results");
    tell({ type: "SpeechStarted", session_id, start: 1.9 });
    tell(words(1.9, 3));
    await until(() => told.filter(({ type }) => type === "Results").length === 2, "two finals");
    expect(told.some(({ type }) => type === "UtteranceEnd")).toBe(false);
    live.hear(seconds(1));
    tell(heartbeat(5, 0.9));
    await heard("UtteranceEnd");
    expect(told.at(-1)).toMatchObject({ last_word_end: 3 });
    live.shut(1000, "");
  });
});
