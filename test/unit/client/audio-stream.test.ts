import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AccessEnded } from "../../../src/client/audio-sender.ts";
import { ChannelError } from "../../../src/client/errors.ts";
import type { StreamServerFrame } from "../../../src/client/frames.ts";
import { VoiceClient } from "../../../src/client/node.ts";
import { refusal, ScriptedService } from "../../support/scripted-service.ts";
import { ScriptedStream } from "../../support/scripted-stream.ts";

const QUICK = { attempts: 4, firstMs: 1, longestMs: 2 };
const PCM = { encoding: "pcm_s16le", sample_rate: 16_000, channels: 1 } as const;

describe("audio streams", () => {
  let service: ScriptedService;
  let script: ScriptedStream;
  let voice: VoiceClient;
  const sound = new Uint8Array(700_001).map((_, at) => (at * 31) ^ (at >> 7));
  beforeEach(async () => {
    service = await ScriptedService.start();
    script = new ScriptedStream();
    service.play = (socket) => script.play(socket);
    voice = new VoiceClient({ baseUrl: service.url, apiKey: "vsk_1" });
  });
  afterEach(() => service.stop());

  async function writeAll(stream: ReturnType<VoiceClient["stream"]>, from = 0): Promise<void> {
    for (let at = from; at < sound.length; at += 10_007) {
      await stream.write(sound.subarray(at, at + 10_007));
    }
    await stream.end();
  }

  it("stream: cut three times, what is stored is what was written, byte by byte", async () => {
    script.cuts = [100_000, 50_000, 300_000];
    script.lost = 1_234;
    const reasons: string[] = [];
    const onReconnect = (reason: string) => reasons.push(reason);
    const stream = voice.stream("s1", PCM, { backOff: QUICK, onReconnect });
    await writeAll(stream);
    expect(script.stored.equals(sound)).toBe(true);
    expect(stream.stored).toBe(sound.length);
    expect(reasons).toHaveLength(3);
    expect(service.upgrades.map(({ url }) => url)).toEqual(
      Array(4).fill("/api/sessions/s1/stream"),
    );
    expect(service.upgrades[0]?.headers["x-api-key"]).toBe("vsk_1");
    expect(script.configured[0]).toEqual({ type: "Configure", ...PCM });
    expect(script.configured[3]).toEqual({ type: "Configure", ...PCM, session_id: "s1" });
  });

  it("stream: packets of Opus stay whole, whatever breaks", async () => {
    script.cuts = [2_000, 2_000];
    const opus = { encoding: "opus", sample_rate: 48_000, channels: 1 } as const;
    const stream = voice.stream("s1", opus, { backOff: QUICK });
    const packets = Array.from({ length: 60 }, (_, at) => sound.slice(at * 97, at * 97 + 40 + at));
    for (const packet of packets) await stream.write(packet);
    await stream.end();
    expect(script.stored.equals(Buffer.concat(packets))).toBe(true);
    const known = new Set(packets.map((packet) => Buffer.from(packet).toString("hex")));
    expect(script.messages.every((each) => known.has(each.toString("hex")))).toBe(true);
  });

  it("stream: another process goes on where the service says", async () => {
    script.stored = Buffer.from(sound.subarray(0, 333_333));
    const begun = await new Promise<number>((resolve, reject) => {
      const stream = voice.stream("s1", PCM, {
        resume: true,
        onBegin: (_id, offset) => {
          resolve(offset);
          writeAll(stream, offset).catch(reject);
        },
      });
    });
    expect(begun).toBe(333_333);
    await expect.poll(() => script.stored.equals(sound)).toBe(true);
  });

  it("stream: what an earlier process kept is sent first, but for what the service has", async () => {
    script.stored = Buffer.from(sound.subarray(0, 300_000));
    const kept = { bytes: sound.slice(200_000, 400_000), offset: 200_000 };
    const stream = voice.stream("s1", PCM, { kept, heartbeat: { recording: true } });
    await writeAll(stream, 400_000);
    expect(script.stored.equals(sound)).toBe(true);
    expect(script.heartbeats).toEqual([{ type: "Heartbeat", recording: true }]);

    // What was sent last was stored, and not kept: what follows goes behind it.
    script.stored = Buffer.from(sound.subarray(0, 500_000));
    let offset = 0;
    const ahead = voice.stream("s1", PCM, {
      kept,
      onBegin: (_id, from) => {
        offset = from;
      },
    });
    await expect.poll(() => offset).toBe(500_000);
    await writeAll(ahead, offset);
    expect(script.stored.equals(sound)).toBe(true);

    script.stored = Buffer.from(sound.subarray(0, 100_000));
    const behind = voice.stream("s1", PCM, { kept });
    await expect(behind.end()).rejects.toMatchObject({ code: "audio_lost" });
  });

  it("stream: words come once, and from the newest on after a break", async () => {
    const final = (seq: number) =>
      JSON.stringify({ type: "Results", session_id: "s1", seq, at: "t", is_final: true });
    service.play = (socket, number) => {
      script.play(socket);
      socket.on("message", (data: Buffer, isBinary) => {
        if (isBinary || !String(data).includes("Configure")) return;
        for (const seq of number === 1 ? [3, 4] : [4, 5]) socket.send(final(seq));
      });
    };
    script.cuts = [1];
    const frames: StreamServerFrame[] = [];
    const configuration = { ...PCM, transcript: true };
    const onFrame = (frame: StreamServerFrame) => frames.push(frame);
    const stream = voice.stream("s1", configuration, { backOff: QUICK, onFrame });
    // The first connection is cut by the first byte, so its words have to be there before.
    await expect.poll(() => frames.length).toBe(2);
    await stream.write(sound.subarray(0, 10));
    await stream.write(sound.subarray(10, 20));
    await stream.end();
    expect(frames.map((frame) => "seq" in frame && frame.seq)).toEqual([3, 4, 5]);
    expect(script.configured[1]).toMatchObject({ from_seq: 4, session_id: "s1" });
  });

  it("stream: when the right ends, what is not stored is handed back", async () => {
    service.play = (socket, number) => {
      if (number === 1) return script.play(socket);
      const told = { type: "Error", code: "invalid_api_key", message: "The key was revoked." };
      socket.send(JSON.stringify(told));
      socket.close(4401, "no");
    };
    script.cuts = [64_000];
    const stream = voice.stream("s1", PCM, { backOff: QUICK });
    for (let at = 0; at < 200_000; at += 1_000) {
      await stream.write(sound.subarray(at, at + 1_000)).catch(() => undefined);
    }
    const error = await stream.end().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AccessEnded);
    const { unstored, reason, closeCode, code } = error as AccessEnded;
    expect([reason, closeCode, code]).toEqual(["The key was revoked.", 4401, "invalid_api_key"]);
    const { offset, bytes } = unstored;
    expect(offset).toBeGreaterThan(0);
    expect(Buffer.from(bytes).equals(sound.subarray(offset, offset + bytes.length))).toBe(true);
    await expect(stream.write(sound)).rejects.toThrow(AccessEnded);
  });

  it.each([
    [4400, /no frame of ours/],
    [4409, /no frame of ours/],
    [4404, /no frame of ours/],
    [1000, /no frame of ours/],
  ])("stream: closed with %d it is over at once", async (code, message) => {
    service.play = (socket) => socket.close(code, "no frame of ours");
    const stream = voice.stream("s1", PCM, { backOff: QUICK });
    await stream.write(sound.subarray(0, 10));
    await expect(stream.end()).rejects.toThrow(message);
    expect(service.upgrades).toHaveLength(1);
  });

  it("stream: a refused upgrade is told as the service says it, a busy one is tried again", async () => {
    service.refuse = (number) =>
      number < 3
        ? { status: 503, body: refusal("Later.") }
        : { status: 404, body: refusal("There is no session s1.") };
    const error = await voice
      .stream("s1", PCM, { backOff: QUICK })
      .end()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ChannelError);
    expect(String(error)).toContain("There is no session s1. (HTTP 404)");
    expect(service.upgrades).toHaveLength(3);
  });

  it("stream: a service that has lost stored audio is not given other bytes in its place", async () => {
    script.cuts = [100_000];
    service.play = (socket) => {
      if (script.configured.length > 0) script.stored = Buffer.alloc(0);
      script.play(socket);
    };
    const stream = voice.stream("s1", PCM, { backOff: QUICK });
    const error = await writeAll(stream).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "audio_lost" });
    expect(script.stored.length).toBe(0);
  });

  it("stream: it gives up after connections in a row that stored nothing, and ends when aborted", async () => {
    service.play = (socket) => socket.terminate();
    const away = voice.stream("s1", PCM, { backOff: QUICK });
    const error = await away.end().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ isRetryable: true, code: "closed" });
    expect(service.upgrades).toHaveLength(QUICK.attempts);
    const stop = new AbortController();
    service.play = () => stop.abort(new Error("enough"));
    const stream = voice.stream("s1", PCM, { signal: stop.signal });
    await expect(stream.end()).rejects.toThrow("enough");
    await expect(stream.write(sound)).rejects.toThrow("enough");
  });

  it("stream: a source that may not wait is not held up, one that may is", async () => {
    service.play = () => undefined;
    const stop = new AbortController();
    const stream = voice.stream("s1", PCM, { signal: stop.signal });
    let isOn = false;
    const written = stream.write(new Uint8Array(9 * 1024 * 1024)).then(() => {
      isOn = true;
    });
    await new Promise((wake) => setTimeout(wake, 20));
    expect(isOn).toBe(false);
    const other = stream.write(sound);
    stop.abort(new Error("enough"));
    await expect(written).rejects.toThrow("enough");
    await expect(other).rejects.toThrow("enough");
    await expect(stream.end()).rejects.toThrow("enough");
  });
});
