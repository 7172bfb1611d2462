import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { wordErrors } from "../eval/word-error-rate.ts";
import { channelConversation, cutChannelChunks } from "../support/channel-conversation.ts";
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

function wordsOf(segments: readonly Segment[], label: string): string {
  const own = segments.filter(({ speaker_label }) => speaker_label === label);
  return own.map(({ text }) => text.toLowerCase().replace(/[.,?!]/g, "")).join(" ");
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
