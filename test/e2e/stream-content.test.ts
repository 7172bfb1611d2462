import { beforeAll, describe, expect, inject, it } from "vitest";
import { joinOpusPackets } from "../../src/base/audio/opus-packets.ts";
import { wavHeader } from "../../src/base/audio/wav.ts";
import { makeWav } from "../support/make-wav.ts";
import { encodeOpus } from "../support/opus-packets.ts";
import { call, conversationPcm, PairedDevice, persistently } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { type Frame, Viewer } from "../support/viewer.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;
const MULAW = { encoding: "mulaw", sample_rate: 8_000, channels: 1 } as const;
const OPUS = { encoding: "opus", sample_rate: 16_000, channels: 1 } as const;
const PREFIXED = { ...OPUS, framing: "length_prefixed" } as const;
const SECOND = 32_000;

const latin = (text: string) => Buffer.from(text, "latin1");
const filled = (head: Buffer, length = 4_000) =>
  Buffer.concat([head, Buffer.alloc(length, "not audio at all ")]);

/** Two frames of MPEG-1 layer III, 128 kbit/s at 44.1 kHz. */
function mp3(): Buffer {
  const frame = filled(Buffer.from("fffb9064", "hex"), 413);
  return Buffer.concat([frame, frame, frame]);
}

const FILES: Readonly<Record<string, Buffer>> = {
  Ogg: filled(latin("OggS\0\x02")),
  WebM: filled(Buffer.from("1a45dfa39f4286810142f7", "hex")),
  WAV: filled(latin("RIFF\x24\x08\0\0WAVEfmt \x10\0\0\0")),
  FLAC: filled(latin("fLaC\0\0\0\x22")),
  MP4: filled(latin("\0\0\0\x18ftypM4A \0\0\0\0")),
  MP3: mp3(),
};

interface Completeness {
  complete: boolean;
  missing: { start_ms: number; end_ms: number; reason: string; chunk_sequences: number[] }[];
}

describe("stream content", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service, "admin");
  });

  async function connect(device: PairedDevice, configure: object): Promise<Viewer> {
    const url = `${service.ready.base_url.replace("http", "ws")}/api/devices/${device.id}/stream`;
    const socket = await new Viewer(url, { "x-api-key": device.key }).opened();
    socket.send({ type: "Configure", ...configure });
    return socket;
  }

  /** Connected, and Begin was there: `device.sessionId` is its session. */
  async function begun(device: PairedDevice, configure: object): Promise<Viewer> {
    const socket = await connect(device, configure);
    device.sessionId = String((await socket.received("Begin")).session_id);
    return socket;
  }

  async function ended(device: PairedDevice): Promise<string> {
    let status = "";
    await until(
      async () => {
        status = String((await device.get("")).body.status);
        return status === "completed" || status === "failed";
      },
      "the session to end",
      120_000,
    );
    return status;
  }

  const completeness = async (device: PairedDevice) =>
    (await device.get<Completeness>("/completeness")).body;

  const acknowledged = ({ frames }: Viewer) =>
    frames.filter(({ type }) => type === "AudioAck").at(-1)?.audio_offset_bytes;

  const errorOf = ({ frames }: Viewer): Frame | undefined =>
    frames.find(({ type }) => type === "Error");

  async function expectRefused(socket: Viewer, code: string, sentence: RegExp): Promise<void> {
    expect(await socket.closed()).toBe(4400);
    expect(errorOf(socket)).toMatchObject({
      code,
      message: expect.stringMatching(sentence),
      retryable: false,
    });
  }

  it.each(Object.keys(FILES))(
    "files: %s sent as any bare audio is refused at once, and the session that it began fails",
    async (name) => {
      const device = await PairedDevice.pair(service, owner);
      const file = FILES[name] ?? Buffer.alloc(0);
      for (const configure of [PCM, MULAW, OPUS, PREFIXED]) {
        const socket = await begun(device, configure);
        const wrapped = configure === PREFIXED && name !== "MP3";
        const bytes = wrapped ? joinOpusPackets([file]) : file;
        // The first ones one by one, as a slow serial line brings them.
        for (const byte of bytes.subarray(0, 16)) socket.socket.send(Uint8Array.of(byte));
        for (let at = 16; at < bytes.length; at += 700) {
          socket.socket.send(bytes.subarray(at, at + 700));
        }
        await expectRefused(
          socket,
          "unsupported_media_type",
          new RegExp(`looks like an? .*${name}.* not like bare .*Send `, "s"),
        );
        expect(acknowledged(socket)).toBeUndefined();
        expect(await ended(device)).toBe("failed");
        const { body } = await device.get("");
        expect(body).toMatchObject({ status: "failed", stop_reason: "not_audio" });
        expect(await device.chunks()).toEqual([]);
        expect(await completeness(device)).toMatchObject({ complete: false, missing: [] });
      }
    },
  );

  it("files: a session that was there before stays, and takes what is right", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const wrong = await begun(device, PCM);
    wrong.socket.send(FILES.WAV ?? "");
    await expectRefused(wrong, "unsupported_media_type", /WAV/);
    expect((await device.get("")).body.status).toBe("recording");
    const right = await begun(device, PCM);
    expect((await right.received("Begin")).audio_offset_bytes).toBe(0);
    // Some programs write a WAV header first; it counts as sent, and is not heard.
    const header = wavHeader(0);
    right.socket.send(header);
    right.socket.send(conversationPcm().subarray(0, 4 * SECOND));
    right.send({ type: "CloseStream" });
    expect(await right.closed()).toBe(1000);
    expect(acknowledged(right)).toBe(header.length + 4 * SECOND);
    expect((await device.chunks())[0]).toMatchObject({ duration_seconds: 4 });
    await device.stop(-1);
    expect(await ended(device)).toBe("completed");
  });

  it("files: their marks are sound like any other once a stream has begun", async () => {
    const device = await PairedDevice.pair(service, owner);
    const first = await begun(device, PCM);
    first.socket.send(Buffer.alloc(SECOND));
    for (const file of Object.values(FILES)) first.socket.send(file.subarray(0, 1_000));
    first.send({ type: "CloseStream" });
    expect(await first.closed()).toBe(1000);
    for (const file of Object.values(FILES)) {
      const later = await begun(device, PCM);
      later.socket.send(file.subarray(0, 1_000));
      later.send({ type: "CloseStream" });
      expect(await later.closed()).toBe(1000);
      expect(errorOf(later)).toBeUndefined();
    }
    await device.stop(-1);
    expect(await ended(device)).toBe("completed");
  });

  it("files: what only begins like one is kept to the last byte", async () => {
    for (const text of [
      "Ogg",
      "\x1a\x45\xdf",
      "ID3\x09",
      "\0\0\0\x18fty",
      "\xff\xfb\x90\x64 no more",
    ]) {
      const device = await PairedDevice.pair(service, owner);
      const socket = await begun(device, MULAW);
      for (const byte of latin(text)) socket.socket.send(Uint8Array.of(byte));
      socket.send({ type: "CloseStream" });
      expect(await socket.closed()).toBe(1000);
      expect(acknowledged(socket)).toBe(text.length);
      expect(socket.frames.filter(({ type }) => type === "Error")).toEqual([]);
    }
  });

  it("text: sent as Opus it is refused, and the session that it began fails", async () => {
    const device = await PairedDevice.pair(service, owner);
    const socket = await begun(device, OPUS);
    for (let n = 0; n < 20; n += 1) socket.socket.send(latin("hello world this is not opus"));
    await expectRefused(socket, "not_audio", /looks like text/);
    expect(await ended(device)).toBe("failed");
  });

  it("text: base64 sent as PCM is refused, and the session that it began fails", async () => {
    const device = await PairedDevice.pair(service, owner);
    const socket = await begun(device, PCM);
    socket.socket.send(latin(Buffer.from("some sound ".repeat(200)).toString("base64")));
    await expectRefused(socket, "not_audio", /looks like text/);
    expect(await ended(device)).toBe("failed");
  });

  it("garbage as Opus: told at once, refused soon, and the record says that nothing was read", async () => {
    const device = await PairedDevice.pair(service, owner);
    const viewer = new Viewer(service.ready.live_url, { authorization: `Bearer ${device.token}` });
    await viewer.opened();
    const socket = await begun(device, OPUS);
    viewer.send({ type: "Subscribe", session_id: device.sessionId, from_seq: 0 });
    let sent = 0;
    for (let n = 0; n < 10; n += 1) {
      const message = Uint8Array.of(0x0b, 0xff, n, 1, 2, 3);
      socket.socket.send(message);
      sent += message.byteLength;
    }
    await expectRefused(socket, "not_audio", /10 messages or packets 10 are no Opus packets/);
    expect(socket.frames.find(({ type }) => type === "Warning")).toMatchObject({
      code: "not_audio",
      message: expect.stringMatching(/no Opus packet; silence stands/),
    });
    expect(await ended(device)).toBe("failed");
    const [chunk, ...others] = await device.chunks();
    expect(others).toEqual([]);
    expect(chunk).toMatchObject({ chunk_sequence: 0, transcription_status: "failed" });
    const whole = { start_ms: 0, end_ms: 200, reason: "undecodable", chunk_sequences: [0] };
    expect(await completeness(device)).toMatchObject({ complete: false, missing: [whole] });
    await until(
      () => viewer.frames.some((f) => f.type === "SessionStatus" && f.status === "failed"),
      "the viewer to hear of the end",
    );
    const [failed] = viewer.frames.filter((f) => f.transcription_status === "failed");
    expect(failed).toMatchObject({ type: "ChunkStatus", chunk_sequence: 0 });
    expect(String(failed?.message)).toMatch(/None of the chunk's 10 packets can be decoded/);
    expect(viewer.frames).toContainEqual(
      expect.objectContaining({
        type: "JobStatus",
        status: "failed",
        error: "What the device streamed is no audio.",
      }),
    );
    viewer.socket.close();
    expect(sent).toBe(60);
    await expectRedoFails(device);
  });

  /** The job can be run again, and ends the same way. */
  async function expectRedoFails(device: PairedDevice): Promise<void> {
    const { token } = device;
    const { body: session } = await device.get<{ transcription_job_id: string }>("");
    const path = `/admin/jobs/transcriptions/${session.transcription_job_id}`;
    const job = async () =>
      (await persistently<{ status: string; error: string }>(service, "GET", path, { token })).body;
    expect(await job()).toMatchObject({ status: "failed" });
    const redo = await call(service.api, "POST", `${path}/redo`, { token, body: {} });
    expect(redo.status).toBe(200);
    await until(async () => (await job()).status === "failed", "the redo to end", 60_000);
    expect((await device.get("")).body.status).toBe("failed");
  }

  it("garbage first, then good: both are in the record, each as what it is", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const wrong = await begun(device, OPUS);
    for (let n = 0; n < 20; n += 1) wrong.socket.send(Uint8Array.of(0x0b, 0xff, n, 7));
    expect(await wrong.closed()).toBe(4400);
    await until(async () => (await device.chunks()).length === 1, "the garbage to be a chunk");
    const right = await begun(device, OPUS);
    const from = (await right.received("Begin")).audio_offset_bytes;
    expect(from).toBe(40);
    for (const packet of encodeOpus(firstSeconds(10))) right.socket.send(packet);
    right.send({ type: "CloseStream" });
    expect(await right.closed()).toBe(1000);
    await device.stop(-1);
    expect(await ended(device)).toBe("completed");
    const statuses = (await device.chunks()).map((chunk) => chunk.transcription_status);
    expect(statuses[0]).toBe("failed");
    expect(new Set(statuses.slice(1))).toEqual(new Set(["completed"]));
    expect((await device.said()).join(" ")).toMatch(/work on Friday/i);
    const bad = { start_ms: 0, end_ms: 200, reason: "undecodable", chunk_sequences: [0] };
    expect(await completeness(device)).toMatchObject({ complete: false, missing: [bad] });
  });

  it("garbage in the middle of good audio: the words stay, the bad span is told", async () => {
    const device = await PairedDevice.pair(service, owner);
    const socket = await begun(device, PREFIXED);
    const packets = encodeOpus(firstSeconds(10));
    // Nine packets in a pause: fewer than end the stream.
    const quiet = quietest(firstSeconds(10), 9);
    for (let n = 0; n < 9; n += 1) packets[quiet + n] = Buffer.of(0x0b, 0xff, n, 7);
    for (let at = 0; at < packets.length; at += 25) {
      socket.socket.send(joinOpusPackets(packets.slice(at, at + 25)));
    }
    const bytes = packets.reduce((sum, { byteLength }) => sum + byteLength + 2, 0);
    socket.send({ type: "CloseStream" });
    expect(await socket.closed()).toBe(1000);
    expect(acknowledged(socket)).toBe(bytes);
    await device.stop(-1);
    expect(await ended(device)).toBe("completed");
    expect(new Set((await device.chunks()).map((c) => c.transcription_status))).toEqual(
      new Set(["completed"]),
    );
    expect((await device.said()).join(" ")).toMatch(/work on Friday/i);
    const { complete, missing } = await completeness(device);
    expect(complete).toBe(false);
    expect(missing).toEqual([
      {
        start_ms: 20 * quiet,
        end_ms: 20 * (quiet + 9),
        reason: "undecodable",
        chunk_sequences: [0],
      },
    ]);
  });

  it("one session, one encoding: another one is refused, the same goes on", async () => {
    const device = await PairedDevice.pair(service, owner);
    const first = await begun(device, PCM);
    first.socket.send(Buffer.alloc(SECOND));
    first.send({ type: "CloseStream" });
    expect(await first.closed()).toBe(1000);
    for (const other of [
      { ...PCM, sample_rate: 8_000 },
      { ...PCM, channels: 2 },
      { ...PCM, encoding: "mulaw" },
      OPUS,
    ]) {
      const socket = await connect(device, other);
      await expectRefused(
        socket,
        "conflict",
        /This session's stream is pcm_s16le at 16000 Hz with 1 channel, not /,
      );
    }
    const again = await begun(device, { ...PCM, interim_results: false });
    expect(await again.received("Begin")).toMatchObject({
      audio_offset_bytes: SECOND,
      configuration: { sample_rate: 16_000, interim_results: false },
    });
    again.socket.close();
  });

  it("upload: a WAV whose samples are no numbers fails, and with it a session of nothing else", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    const wav = makeWav({ frames: 16_000, bits: 32, float: true }).fill(0xff, 44);
    const path = `/sessions/${device.sessionId}/upload-audio`;
    const headers = { "content-type": "audio/wav", "x-chunk-sequence": "0" };
    const { key } = device;
    expect((await call(service.api, "POST", path, { key, bytes: wav, headers })).status).toBe(201);
    await device.stop(0);
    expect(await ended(device)).toBe("failed");
    const [chunk] = await device.chunks();
    expect(chunk?.transcription_status).toBe("failed");
    const whole = { start_ms: 0, end_ms: 1_000, reason: "undecodable", chunk_sequences: [0] };
    expect(await completeness(device)).toMatchObject({ complete: false, missing: [whole] });
  });

  it("upload: a file that says it is raw PCM is refused", async () => {
    const device = await PairedDevice.pair(service, owner);
    await device.start();
    for (const name of ["Ogg", "WebM", "FLAC", "MP4", "MP3"]) {
      const { status, body } = await device.upload(0, FILES[name] ?? Buffer.alloc(0));
      expect(status).toBe(415);
      expect(body.message).toMatch(new RegExp(`looks like a file \\(${name}\\)`));
    }
  });
});

function firstSeconds(seconds: number): Int16Array {
  const bytes = Uint8Array.from(conversationPcm().subarray(0, seconds * SECOND));
  return new Int16Array(bytes.buffer);
}

/** Where the quietest `count` packets of 20 ms begin. */
function quietest(pcm: Int16Array, count: number): number {
  const frames = Array.from({ length: pcm.length / 320 }, (_, frame) =>
    pcm.subarray(frame * 320, (frame + 1) * 320).reduce((sum, s) => sum + s * s, 0),
  );
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (let at = 1; at + count < frames.length - 50; at += 1) {
    const energy = frames.slice(at, at + count).reduce((sum, each) => sum + each, 0);
    if (energy < least) [best, least] = [at, energy];
  }
  return best;
}
