import { DeepgramClient } from "@deepgram/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wavFileHeader } from "../../src/base/audio/wav.ts";
import { wordErrors } from "../eval/word-error-rate.ts";
import {
  channelConversation,
  cutChannelChunks,
  interleaved,
} from "../support/channel-conversation.ts";
import { CompatCaller, conversationWav } from "../support/compat-caller.ts";
import { adminToken, call, PairedDevice, type Segment } from "../support/paired-device.ts";
import { WholeService } from "../support/whole-service.ts";

const CHUNK = 32_000;
const GAP_WAIT_MS = 12_000;
/** A made voice is not read without errors. */
const RIGHT = 0.7;
/** At the seams of what was read again a word may be another one. */
const ALIKE = 0.9;

/** Two voices, of which each begins before the other has ended. */
const { channels, texts } = channelConversation({ earlierMs: 2_000, turns: 2 });
const chunks = cutChannelChunks(channels, CHUNK);

describe("channels that are speakers", () => {
  let service: WholeService;
  let token: string;
  beforeAll(async () => {
    service = await WholeService.start();
    token = await adminToken(service);
  });
  afterAll(() => service?.stop());

  async function startedDevice(body: object): Promise<PairedDevice> {
    const device = await PairedDevice.pair(service, token);
    const path = `/devices/${device.id}/session/start`;
    const started = await call<{ session_id: string }>(service.api, "POST", path, {
      key: device.key,
      body,
    });
    expect(started.status).toBe(201);
    device.sessionId = started.body.session_id;
    return device;
  }

  async function send(device: PairedDevice, sequence: number): Promise<void> {
    const { data = Buffer.alloc(0), mediaType = "" } = chunks[sequence] ?? {};
    const path = `/sessions/${device.sessionId}/upload-audio`;
    const { status } = await call(service.api, "POST", path, {
      key: device.key,
      bytes: data,
      headers: { "content-type": mediaType, "x-chunk-sequence": String(sequence) },
    });
    expect(status).toBe(201);
  }

  async function recorded(late: readonly number[], body: object): Promise<Segment[]> {
    const device = await startedDevice(body);
    const inTime = [...chunks.keys()].filter((sequence) => !late.includes(sequence));
    for (const sequence of inTime) await send(device, sequence);
    await device.stop(chunks.length - 1);
    if (late.length > 0) await new Promise((wake) => setTimeout(wake, GAP_WAIT_MS));
    for (const sequence of late) await send(device, sequence);
    await device.completed();
    await expect
      .poll(async () => (await device.chunks()).map((chunk) => chunk.transcription_status), {
        timeout: 60_000,
      })
      .toEqual(chunks.map(() => "completed"));
    return device.segments();
  }

  it("each channel is one speaker, with all of its words though they overlap, also where sound came late", async () => {
    const whole = await recorded([], { speaker_channels: 2 });
    expect([...new Set(whole.map(({ speaker_label }) => speaker_label))].sort()).toEqual([
      "S1",
      "S2",
    ]);
    for (const [at, said] of texts.entries()) {
      expect(rightShare(said, wordsOf(whole, `S${at + 1}`))).toBeGreaterThan(RIGHT);
    }
    expect(overlaps(whole)).toBe(true);
    for (const late of [[1], [2, 1], [0]]) {
      const again = await recorded(late, { speaker_channels: 2 });
      for (const label of ["S1", "S2"]) {
        const [before, after] = [wordsOf(whole, label), wordsOf(again, label)];
        expect(rightShare(before, after), `${late}: ${after}`).toBeGreaterThan(ALIKE);
        expect(rightShare(after, before), `${late}: ${after}`).toBeGreaterThan(ALIKE);
      }
    }
  });

  it("Deepgram's clients get the words of each channel with multichannel, of a file and live", async () => {
    const caller = await CompatCaller.open(service);
    const client = new DeepgramClient({
      apiKey: await caller.key("transcribe"),
      baseUrl: `${service.api}/compat/deepgram`,
      maxRetries: 0,
    });
    // The second voice is on the first channel, so that whoever speaks first is no channel's number.
    const swapped = [channels[1], channels[0]].map((each) => each ?? new Int16Array(0));
    const said = [texts[1] ?? "", texts[0] ?? ""];
    const samples = interleaved(swapped);
    const pcm = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
    const frames = samples.length / 2;
    const wav = Buffer.concat([wavFileHeader({ sampleRate: 16_000, channels: 2, frames }), pcm]);
    const options = { multichannel: true, utterances: true };
    const heard = await client.listen.v1.media.transcribeFile(wav, options);
    if (!("results" in heard)) throw new Error("No results.");
    expect(heard.metadata.channels).toBe(2);
    for (const [at, text] of said.entries()) {
      const words = heard.results.channels[at]?.alternatives?.[0]?.transcript ?? "";
      expect(rightShare(text, plain(words)), words).toBeGreaterThan(RIGHT);
    }
    const spoken = heard.results.utterances?.map(({ channel }) => channel) ?? [];
    expect([...new Set(spoken)].sort()).toEqual([0, 1]);
    const { finals, begun } = await live(client, pcm);
    expect([...begun].sort()).toEqual(["0,2", "1,2"]);
    for (const [at, text] of said.entries()) {
      const words = finals.get(`${at},2`) ?? "";
      expect(rightShare(text, plain(words)), words).toBeGreaterThan(RIGHT);
    }
    const mono = await client.listen.v1.media.transcribeFile(conversationWav(4), options);
    expect("results" in mono && mono.results.channels.length).toBe(1);
  });

  it("mixed where it is not asked; a number of channels that cannot be is refused", async () => {
    const mixed = await recorded([], {});
    expect(overlaps(mixed)).toBe(false);
    const device = await PairedDevice.pair(service, token);
    for (const speaker_channels of [1, 9, "two"]) {
      const path = `/devices/${device.id}/session/start`;
      const options = { key: device.key, body: { speaker_channels } };
      expect((await call(service.api, "POST", path, options)).status).toBe(400);
    }
  });
});

/**
 * The words of all finals of a live stream in two channels, by their `channel_index`, and where
 * speech was told to begin.
 */
async function live(client: DeepgramClient, pcm: Buffer) {
  const socket = await client.listen.v1.connect({
    ...{ model: "nova-3", encoding: "linear16", sample_rate: 16_000, channels: 2 },
    ...{ multichannel: "true", vad_events: "true", reconnectAttempts: 0 },
  } as unknown as Parameters<DeepgramClient["listen"]["v1"]["connect"]>[0]);
  const finals = new Map<string, string>();
  const begun = new Set<string>();
  socket.on("message", (message) => {
    if (message.type === "SpeechStarted") begun.add(message.channel.join());
    if (message.type !== "Results" || message.is_final !== true) return;
    const index = message.channel_index.join();
    const words = message.channel.alternatives[0]?.transcript ?? "";
    finals.set(index, `${finals.get(index) ?? ""} ${words}`);
  });
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.connect();
  await socket.waitForOpen();
  for (let at = 0; at < pcm.length; at += 6_400) socket.sendMedia(pcm.subarray(at, at + 6_400));
  socket.sendCloseStream({ type: "CloseStream" });
  await closed;
  return { finals, begun };
}

function plain(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[.,?!]/g, "");
}

function wordsOf(segments: readonly Segment[], label: string): string {
  const own = segments.filter(({ speaker_label }) => speaker_label === label);
  return own.map(({ text }) => plain(text)).join(" ");
}

/** Share of the words that were said that were heard. */
function rightShare(said: string, heard: string): number {
  const { correct, reference_words } = wordErrors(said.toLowerCase().split(" "), heard.split(" "));
  return correct / reference_words;
}

function overlaps(segments: readonly Segment[]): boolean {
  return segments.some(({ end_ms }, at) => {
    return segments.slice(at + 1).some(({ start_ms }) => start_ms < end_ms);
  });
}
