import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { joinOpusPackets } from "../../src/base/audio/opus-packets.ts";
import { AudioSender } from "../../src/cli/device/audio-sender.ts";
import { encodeOpus } from "../support/opus-packets.ts";
import { call, conversationPcm, cut, PairedDevice } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { type Frame, Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;
const SECOND = 32_000;

describe("device stream", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  /** What an upload of the same audio says. */
  let expected: string[];

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    for (const [sequence, pcm] of cut(5).entries()) await device.upload(sequence, pcm);
    await device.stop(cut(5).length - 1);
    await device.completed();
    expected = await device.said();
  });
  afterAll(() => service.healthy());

  function sender(device: PairedDevice, onStored: (offset: number) => void = () => {}) {
    const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`;
    const configuration = { session_id: device.sessionId, ...PCM };
    const { signal } = new AbortController();
    return new AudioSender({ url, key: device.key, configuration, signal, onStored });
  }

  async function recording(): Promise<PairedDevice> {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    return device;
  }

  /** All bytes of the session's chunks, in order. */
  async function storedAudio(device: PairedDevice): Promise<Buffer> {
    const { token } = device;
    const path = `${service.api}/sessions/${device.sessionId}/audio`;
    const answer = await fetch(path, { headers: { authorization: `Bearer ${token}` } });
    return Buffer.from(await answer.arrayBuffer()).subarray(44);
  }

  const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

  it("stream: says what uploads of the same audio say, in chunks of about ten seconds", async () => {
    const device = await recording();
    const stream = sender(device);
    const done = stream.run();
    for (const pcm of cut(1)) stream.push(pcm);
    stream.end();
    await done;
    await device.stop(-1);
    await device.completed();
    expect(await device.said()).toEqual(expected);
    const chunks = await device.chunks();
    const seconds = conversationPcm().length / SECOND;
    expect(chunks.length).toBeGreaterThanOrEqual(Math.floor(seconds / 13));
    expect(chunks.length).toBeLessThanOrEqual(Math.ceil(seconds / 10));
    expect(chunks.every((chunk) => chunk.transcription_status === "completed")).toBe(true);
  });

  it("resume: a connection cut again and again loses and doubles not one sample", async () => {
    const device = await recording();
    let cuts = 0;
    const stream = sender(device);
    const done = stream.run();
    for (const [index, pcm] of cut(1).entries()) {
      stream.push(pcm);
      await until(() => stream.unstored < 2 * SECOND, "room", 60_000);
      if (index % 3 !== 2) continue;
      cuts += 1;
      stream.drop();
    }
    stream.end();
    await done;
    expect(cuts).toBeGreaterThan(10);
    await device.stop(-1);
    await device.completed();
    expect(hash(await storedAudio(device))).toBe(hash(conversationPcm()));
    expect(await device.said()).toEqual(expected);
  });

  it("kill -9 of the service in the middle: the device goes on, nothing is lost", async () => {
    const device = await recording();
    const stream = sender(device);
    const done = stream.run();
    const parts = cut(1);
    for (const [index, pcm] of parts.entries()) {
      stream.push(pcm);
      await until(() => stream.unstored < 3 * SECOND, "room", 60_000);
      if (index === Math.floor(parts.length / 2))
        await service.replaced("main", service.kill("main"));
    }
    stream.end();
    await done;
    await device.stop(-1);
    await device.completed();
    expect(hash(await storedAudio(device))).toBe(hash(conversationPcm()));
    expect(await device.said()).toEqual(expected);
  });

  it("live: words of a stream are seen before its chunk is stored", async () => {
    const device = await recording();
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${device.token}` });
    await viewer.opened();
    viewer.send({ type: "Subscribe", session_id: device.sessionId, from_seq: 0 });
    const stream = sender(device);
    const done = stream.run();
    stream.push(conversationPcm().subarray(0, 6 * SECOND));
    await until(() => isFinal(viewer.frames), "a final", 60_000);
    const chunks = await device.chunks();
    expect(chunks).toEqual([]);
    stream.end();
    await done;
    await device.stop(-1);
    await device.completed();
    expect((await device.chunks()).map(({ chunk_sequence }) => chunk_sequence)).toEqual([0]);
    viewer.socket.close();
  });

  it("mixed: uploads and a stream share one session", async () => {
    const device = await recording();
    const parts = cut(5);
    const half = Math.floor(parts.length / 2);
    for (const [sequence, pcm] of parts.slice(0, half).entries()) {
      await device.upload(sequence, pcm);
    }
    const stream = sender(device);
    const done = stream.run();
    stream.push(Buffer.concat(parts.slice(half, -1)));
    stream.end();
    await done;
    const next = (await device.chunks()).length;
    const { status } = await device.upload(next, parts.at(-1) ?? Buffer.alloc(0));
    expect(status).toBe(201);
    await device.stop(next);
    await device.completed();
    expect(await device.said()).toEqual(expected);
  });

  for (const framing of ["packet", "length_prefixed"] as const) {
    it(`opus: packets are understood (${framing})`, async () => {
      const device = await recording();
      const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`;
      const socket = await new Viewer(url, { "x-api-key": device.key }).opened();
      const format = { encoding: "opus", sample_rate: 16_000, channels: 1, framing };
      socket.send({ type: "Configure", session_id: device.sessionId, ...format });
      await socket.received("Begin");
      const packets = encodeOpus(firstSeconds(10));
      if (framing === "packet") for (const packet of packets) socket.socket.send(packet);
      else {
        for (let at = 0; at < packets.length; at += 25) {
          socket.socket.send(joinOpusPackets(packets.slice(at, at + 25)));
        }
      }
      socket.send({ type: "CloseStream" });
      expect(await socket.closed()).toBe(1000);
      const acknowledged = socket.frames.filter(({ type }) => type === "AudioAck").at(-1);
      const bytes = packets.reduce((sum, { byteLength }) => sum + byteLength, 0);
      const prefixes = framing === "packet" ? 0 : 2 * packets.length;
      expect(acknowledged?.audio_offset_bytes).toBe(bytes + prefixes);
      await device.stop(-1);
      await device.completed();
      expect((await device.said()).join(" ")).toMatch(/work on Friday/i);
      const audio = await storedAudio(device);
      expect(audio.length / SECOND).toBeCloseTo(10, 1);
      expect(audio.some((byte) => byte !== 0)).toBe(true);
    });
  }

  it("superseded: a newer connection of the device closes the older one with 4409", async () => {
    const device = await recording();
    const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`;
    const older = await new Viewer(url, { "x-api-key": device.key }).opened();
    older.send({ type: "Configure", session_id: device.sessionId, ...PCM });
    await older.received("Begin");
    const newer = await new Viewer(url, { "x-api-key": device.key }).opened();
    newer.send({ type: "Configure", session_id: device.sessionId, ...PCM });
    await newer.received("Begin");
    expect(await older.closed()).toBe(4409);
    newer.send({ type: "CloseStream" });
    expect(await newer.closed()).toBe(1000);
  });

  it("refusals: what devices do wrong is told, and ends with its close code", async () => {
    const device = await recording();
    const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`;
    const other = await recording();
    const stranger = new Viewer(url, { "x-api-key": other.key });
    await until(() => stranger.refused !== undefined, "the refusal");
    expect(stranger.refused?.status).toBe(403);
    const nobody = new Viewer(url);
    await until(() => nobody.refused !== undefined, "the refusal");
    expect(nobody.refused?.status).toBe(401);

    const hasty = await new Viewer(url, { "x-api-key": device.key }).opened();
    hasty.socket.send(Buffer.alloc(640));
    expect((await hasty.received("Error")).code).toBe("bad_request");
    hasty.send({ type: "Configure", ...PCM, sample_rate: 12_345 });
    expect(await hasty.closed()).toBe(4400);

    const ended = await recording();
    await ended.stop(-1);
    const endedUrl = url.replace(device.id, ended.id);
    const late = await new Viewer(endedUrl, { "x-api-key": ended.key }).opened();
    late.send({ type: "Configure", session_id: ended.sessionId, ...PCM });
    expect((await late.received("Error")).code).toBe("session_ended");
    expect(await late.closed()).toBe(1000);
  });

  it("taken numbers: an upload for a chunk that is being streamed is refused", async () => {
    const device = await recording();
    const stream = sender(device);
    const done = stream.run();
    stream.push(Buffer.alloc(SECOND));
    await until(() => stream.unstored === 0, "the first second to be stored", 30_000);
    const { status } = await call(
      service.api,
      "POST",
      `/sessions/${device.sessionId}/upload-audio`,
      {
        key: device.key,
        bytes: Buffer.alloc(SECOND),
        headers: {
          "content-type": "audio/pcm;rate=16000;channels=1;encoding=s16le",
          "x-chunk-sequence": "0",
        },
      },
    );
    expect(status).toBe(409);
    stream.end();
    await done;
  });
});

function firstSeconds(seconds: number): Int16Array {
  const bytes = Uint8Array.from(conversationPcm().subarray(0, seconds * SECOND));
  return new Int16Array(bytes.buffer);
}

const isFinal = (frames: readonly Frame[]) =>
  frames.some((frame) => frame.type === "Results" && frame.is_final === true);
