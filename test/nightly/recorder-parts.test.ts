import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openChromium } from "../support/chromium.ts";
import { PairedDevice, persistently } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";

const CONVERSATION = join(import.meta.dirname, "../../deploy/demo/conversation.wav");
const PART_MS = 700;
const SECONDS = 14;

describe("parts of a browser's recording", () => {
  let service: WholeService;
  let browser: Browser;
  let page: Server;
  let parts: Buffer[];
  let undisturbed: string[];

  beforeAll(async () => {
    service = await WholeService.start({ LATE_DEVICE_SILENCE_MS: "5000" });
    browser = await openChromium([
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${CONVERSATION}%noloop`,
    ]);
    page = createServer((_request, response) => response.end("<!doctype html>"));
    await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
    parts = await record((page.address() as AddressInfo).port);
    undisturbed = await heard(await upload(parts.keys()));
  });
  afterAll(async () => {
    await browser?.close();
    page?.close();
    await service?.stop();
  });

  /** What a MediaRecorder gives out while it records the conversation from the microphone. */
  async function record(port: number): Promise<Buffer[]> {
    const tab = await browser.newPage();
    await tab.goto(`http://127.0.0.1:${port}/`);
    const coded = await tab.evaluate(RECORD);
    return (coded as string[]).map((each) => Buffer.from(each, "base64"));
  }

  async function send(device: PairedDevice, sequence: number, cuts = parts) {
    return persistently<Record<string, unknown>>(
      service,
      "POST",
      `/sessions/${device.sessionId}/upload-audio`,
      {
        key: device.key,
        bytes: cuts[sequence] ?? Buffer.alloc(0),
        headers: {
          "content-type": "audio/webm;codecs=opus",
          "x-chunk-sequence": String(sequence),
        },
      },
    );
  }

  async function upload(order: Iterable<number>): Promise<PairedDevice> {
    const device = await PairedDevice.pair(service);
    await device.start();
    for (const sequence of order) expect((await send(device, sequence)).status).toBe(201);
    await device.stop(parts.length - 1);
    await device.completed();
    return device;
  }

  async function heard(device: PairedDevice, cuts = parts): Promise<string[]> {
    const chunks = await device.chunks();
    expect(chunks.map((chunk) => chunk.transcription_status)).toEqual(cuts.map(() => "completed"));
    return device.said();
  }

  it("parts: a recording in parts is transcribed as one", () => {
    expect(parts.length).toBeGreaterThan(SECONDS / (PART_MS / 1_000) / 2);
    expect(parts[1]?.readUInt32BE(0)).not.toBe(0x1a45dfa3);
    const words = undisturbed.join(" ").split(/\s+/).length;
    expect(words).toBeGreaterThan(20);
  });

  it("parts: backwards, and each twice, they say the same", async () => {
    const device = await PairedDevice.pair(service);
    await device.start();
    for (const sequence of [...parts.keys()].reverse()) {
      const first = await send(device, sequence);
      expect(first.status).toBe(201);
      if (sequence > 0) expect(first.body).not.toHaveProperty("duration_seconds");
      const again = await send(device, sequence);
      expect([again.status, again.body.chunk_id]).toEqual([200, first.body.chunk_id]);
      const waiting = (await device.chunks()).map((chunk) => chunk.transcription_status);
      if (sequence > 0) expect(new Set(waiting)).toEqual(new Set(["pending"]));
    }
    await device.stop(parts.length - 1);
    await device.completed();
    expect(await heard(device)).toEqual(undisturbed);
  });

  it("parts: cut anywhere, over kill -9, they say the same, and play as long as they last", async () => {
    const whole = Buffer.concat(parts);
    const sizes = [9_001, 14_001, 7_977, 12_500, 6_003];
    const cuts: Buffer[] = [];
    // The last one is shorter than a packet.
    for (let at = 0; at < whole.length - 77; ) {
      const end = Math.min(at + (sizes[cuts.length % sizes.length] ?? 1), whole.length - 77);
      cuts.push(whole.subarray(at, end));
      at = end;
    }
    cuts.push(whole.subarray(-77));
    const device = await PairedDevice.pair(service);
    await device.start();
    for (const sequence of [0, 2, 1, 4, 5, 3, ...Array.from(cuts.keys()).slice(6)]) {
      if (sequence === 8) {
        const pid = service.kill("main");
        await service.replaced("main", pid);
      }
      expect([200, 201]).toContain((await send(device, sequence, cuts)).status);
    }
    await device.stop(cuts.length - 1);
    await device.completed();
    expect(await heard(device, cuts)).toEqual(undisturbed);
    const address = `${service.api}/sessions/${device.sessionId}/audio`;
    const played = await fetch(address, { headers: { authorization: `Bearer ${device.token}` } });
    const seconds = (Buffer.from(await played.arrayBuffer()).length - 44) / 32_000;
    expect(Math.abs(seconds - SECONDS)).toBeLessThan(1.5);
  });

  it("parts: without their beginning they wait, and fail in the end with the reason", async () => {
    const device = await PairedDevice.pair(service);
    await device.start();
    for (const sequence of [1, 2]) expect((await send(device, sequence)).status).toBe(201);
    await device.stop(2);
    const failed = async () =>
      (await device.chunks()).every((chunk) => chunk.transcription_status === "failed");
    await until(failed, "the parts to fail", 90_000);
    // It comes after all.
    expect((await send(device, 0)).status).toBe(201);
    const read = async () =>
      (await device.chunks()).every((chunk) => chunk.transcription_status === "completed");
    await until(read, "the parts to be read", 90_000);
  });
});

/** Runs in the page; there is nothing of the test's to refer to. */
const RECORD = `(async () => {
  const sound = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };
  const stream = await navigator.mediaDevices.getUserMedia({ audio: sound });
  const recorder = new MediaRecorder(stream, { mimeType: "audio/webm;codecs=opus" });
  const blobs = [];
  recorder.ondataavailable = ({ data }) => data.size > 0 && blobs.push(data);
  const stopped = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.start(${PART_MS});
  setTimeout(() => recorder.stop(), ${SECONDS * 1_000});
  await stopped;
  const coded = [];
  for (const blob of blobs) {
    const bytes = new Uint8Array(await blob.arrayBuffer());
    coded.push(btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")));
  }
  return coded;
})()`;
