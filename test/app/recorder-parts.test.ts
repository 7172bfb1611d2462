import { beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../support/app-fixture.ts";
import { adminToken, call, PairedDevice } from "../support/paired-device.ts";
import { soundBytes } from "../support/sound-files.ts";

const UNTYPED = "application/octet-stream";
const WEBM = soundBytes("left.webm");
const OGG = soundBytes("mono.opus");
const NOTHING = Buffer.alloc(0);

/** Recorders cut where they are, also before the first byte and in the middle of a header. */
function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places, bytes.length];
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

/** A whole file tells what to leave out before and behind its sound, 20 ms at most. */
const TRIMMED_BYTES = 640;

/** Where a part begins, its decoder begins too: a few milliseconds differ. */
const LIKE = 0.98;

/** The same sound, where its first samples are left out as the file says or are not. */
function expectSame(parts: Buffer, whole: Buffer): void {
  const more = parts.length - whole.length;
  expect(more).toBeGreaterThanOrEqual(0);
  expect(more).toBeLessThanOrEqual(TRIMMED_BYTES);
  const lags = Array.from({ length: 1 + TRIMMED_BYTES / 2 }, (_, lag) => lag);
  expect(
    Math.max(...lags.map((lag) => likeness(samplesOf(parts, lag), samplesOf(whole, 0)))),
  ).toBeGreaterThan(LIKE);
}

function samplesOf(wave: Buffer, from: number): Int16Array {
  const { buffer, byteOffset, length } = Buffer.from(wave.subarray(44 + 2 * from));
  return new Int16Array(buffer.slice(byteOffset, byteOffset + length));
}

/** Correlation of two sounds, 1 where they are equal but for loudness. */
function likeness(one: Int16Array, other: Int16Array): number {
  let [product, left, right] = [0, 0, 0];
  for (let at = 0; at < Math.min(one.length, other.length); at += 1) {
    const [a, b] = [one[at] as number, other[at] as number];
    product += a * b;
    left += a * a;
    right += b * b;
  }
  return product / Math.sqrt(left * right);
}

interface Part {
  bytes: Buffer;
  type?: string;
}

describe("parts of a recording, cut anywhere", () => {
  let service: AppFixture;
  let token: string;
  beforeAll(async () => {
    service = await AppFixture.shared({ LATE_DEVICE_SILENCE_MS: "2000" });
    token = await adminToken(service);
  });

  async function send(device: PairedDevice, sequence: number, { bytes, type = UNTYPED }: Part) {
    return call(service.api, "POST", `/sessions/${device.sessionId}/upload-audio`, {
      key: device.key,
      bytes,
      headers: { "content-type": type, "x-chunk-sequence": String(sequence) },
    });
  }

  async function recorded(parts: Part[], order = [...parts.keys()]): Promise<PairedDevice> {
    const device = await PairedDevice.pair(service, token);
    await device.start();
    for (const sequence of order) {
      const answer = await send(device, sequence, parts[sequence] as Part);
      expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    }
    await device.stop(parts.length - 1);
    await device.completed();
    const states = (await device.chunks()).map((chunk) => chunk.transcription_status);
    expect(states).toEqual(parts.map(() => "completed"));
    return device;
  }

  async function played({ sessionId }: PairedDevice): Promise<Buffer> {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${service.api}/sessions/${sessionId}/audio`, { headers });
    expect(answer.status).toBe(200);
    return Buffer.from(await answer.arrayBuffer());
  }

  const untyped = (parts: Buffer[]) => parts.map((bytes) => ({ bytes }));

  it.each([
    ["WebM", WEBM, "audio/webm;codecs=opus"],
    ["Ogg", OGG, "audio/ogg"],
  ])("recorder parts: %s says the same in any cutting, typed or not", async (_, file, type) => {
    const whole = await played(await recorded([{ bytes: file }]));
    expect(whole.length).toBeGreaterThan(32_000);
    const parts = untyped(cutAt(file, [1, 5, 30, 30, 41, 1_000, 1_001, 4_000, 4_000]));
    expectSame(await played(await recorded(parts)), whole);
    const typed = cutAt(file, [0, 0, 1, 1, 60, 900]).map((bytes) => ({ bytes, type }));
    const backwards = [...typed.keys()].reverse();
    expectSame(await played(await recorded(typed, backwards)), whole);
  });

  it("recorder parts: a recording without its beginning fails, and says why", async () => {
    const device = await PairedDevice.pair(service, token);
    await device.start();
    const type = "audio/webm;codecs=opus";
    for (const [at, bytes] of cutAt(WEBM, [700, 2_000, 4_000]).entries()) {
      if (at > 0) expect((await send(device, at, { bytes, type })).status).toBe(201);
    }
    await device.stop(3);
    const session = `/sessions/${device.sessionId}`;
    const read = async () => (await call(service.api, "GET", session, { token })).body;
    await expect
      .poll(read, { timeout: 60_000 })
      .toMatchObject({ status: "failed", reason: "audio_unreadable" });
    const { body } = await call(service.api, "GET", `${session}/chunks`, { token });
    const failed = { transcription_status: "failed", message: expect.stringMatching(/beginning/) };
    expect(body.chunks).toMatchObject([failed, failed, failed]);
  });

  it("recorder parts: nothing at all, and what continues nothing, are refused", async () => {
    const device = await PairedDevice.pair(service, token);
    await device.start();
    const empty = await send(device, 0, { bytes: NOTHING });
    expect(empty).toMatchObject({
      status: 422,
      body: { message: "The file is empty: it holds no audio." },
    });
    const text = await send(device, 0, { bytes: Buffer.from("a text, and no sound") });
    expect(text.status).toBe(422);
    expect((await send(device, 0, { bytes: WEBM.subarray(0, 1) })).status).toBe(201);
    // What follows is no WebM: it is told when it comes.
    const other = await send(device, 1, { bytes: Buffer.from("a text, and no sound") });
    expect(other.status).toBe(422);
    expect((await send(device, 1, { bytes: WEBM.subarray(1, 4_000) })).status).toBe(201);
    const long = await send(device, 2, { bytes: Buffer.from("a text, and no sound. ".repeat(9)) });
    expect(long.status).toBe(422);
    expect((await send(device, 2, { bytes: WEBM.subarray(4_000) })).status).toBe(201);
  });
});
