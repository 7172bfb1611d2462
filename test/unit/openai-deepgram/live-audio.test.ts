import { describe, expect, it, vi } from "vitest";
import { splitOpusPackets } from "../../../src/base/audio/opus-packets.ts";
import { isAppError } from "../../../src/base/errors.ts";
import { type LiveAudio, openLiveAudio } from "../../../src/openai-deepgram/live-audio.ts";
import { makeWav } from "../../support/make-wav.ts";
import { opened, soundBytes } from "../../support/sound-files.ts";

type Raw = Parameters<typeof openLiveAudio>[1];

const NOTHING = Buffer.alloc(50 * 1024);

/** Sends the bytes in steps, as a client does; returns all messages. */
function sendAll(bytes: Buffer, step: number, raw?: Raw) {
  let audio: LiveAudio | undefined;
  let pending = Buffer.alloc(0);
  const messages: Uint8Array[] = [];
  for (let at = 0; at < bytes.byteLength; at += step) {
    pending = Buffer.concat([pending, bytes.subarray(at, at + step)]);
    if (audio === undefined) {
      const found = openLiveAudio(pending, raw, true);
      if (found === undefined) continue;
      audio = found.audio;
      pending = Buffer.from(found.rest);
    }
    messages.push(...audio.take(pending));
    pending = Buffer.alloc(0);
  }
  messages.push(...(audio?.flush() ?? []));
  return { audio, messages };
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isAppError(error)) return error.code;
    throw error;
  }
  return "none";
}

describe("live audio", () => {
  it.each([
    ["mono.opus", 977],
    ["mono.opus", 61],
    ["left.webm", 977],
    ["left.webm", 61],
  ] as const)("live audio: %s in steps of %i bytes has every packet once", (name, step) => {
    const bytes = soundBytes(name);
    const whole = opened(bytes);
    if (whole.codec !== "opus") throw new Error("The fixture is Opus.");
    const { audio, messages } = sendAll(bytes, step);
    const packets = messages.flatMap((message) => splitOpusPackets(message));
    const expected = whole.audio.packets.slice(0, packets.length);
    expect(packets.map((each) => Buffer.from(each).toString("hex"))).toEqual(
      expected.map((each) => Buffer.from(each).toString("hex")),
    );
    // What ends with the stream itself may be cut off with it.
    expect(whole.audio.packets.length - packets.length).toBeLessThanOrEqual(1);
    expect(audio?.settings).toMatchObject({ encoding: "opus", framing: "length_prefixed" });
    expect(audio?.seconds).toBeCloseTo(1.4, 0);
  });

  it("live audio: a stream in tiny pieces is walked a few times, not once for each", () => {
    const head = soundBytes("left.webm");
    const found = openLiveAudio(head, undefined, true);
    if (found === undefined) throw new Error("The fixture is Opus.");
    let walked = 0;
    const { concat } = Buffer;
    vi.spyOn(Buffer, "concat").mockImplementation((parts, length) => {
      const whole = concat(parts, length);
      walked += whole.byteLength;
      return whole;
    });
    try {
      found.audio.take(found.rest);
      // A block of 60 KiB, whose end does not come; then byte after byte.
      found.audio.take(Buffer.concat([Buffer.from("a31000f00081000080", "hex"), NOTHING]));
      walked = 0;
      for (let n = 0; n < 1_000; n += 1) found.audio.take(Buffer.alloc(1));
      expect(walked).toBeLessThan(5 * NOTHING.byteLength);
    } finally {
      vi.restoreAllMocks();
    }
  });

  it("live audio: WAV loses its header and nothing else", () => {
    const wav = makeWav({ frames: 1_000 });
    const { audio, messages } = sendAll(wav, 100);
    expect(Buffer.concat(messages)).toEqual(wav.subarray(44));
    expect(audio?.settings).toMatchObject({ encoding: "pcm_s16le", sampleRate: 16_000 });
    expect(audio?.seconds).toBe(1_000 / 16_000);
  });

  it("live audio: A-law becomes 16 bits, whatever it is cut to", () => {
    const raw = { encoding: "alaw", sampleRate: 8_000, channels: 1 } as const;
    const { audio, messages } = sendAll(Buffer.from([0xd5, 0x55, 0xd5]), 1, raw);
    const samples = Buffer.concat(messages);
    expect(samples.byteLength).toBe(6);
    expect(samples.readInt16LE(0)).toBe(8);
    expect(samples.readInt16LE(2)).toBe(-8);
    expect(audio?.settings.encoding).toBe("pcm_s16le");
  });

  it("live audio: what is not read is refused at once", () => {
    const text = Buffer.from("only words of a text, nothing to hear. ".repeat(4));
    expect(codeOf(() => openLiveAudio(text, undefined, false))).toBe("not_audio");
    const flac = soundBytes("mono-16000.flac");
    expect(codeOf(() => openLiveAudio(flac, undefined, false))).toBe("unsupported_media_type");
    const vorbis = soundBytes("mono-44100.ogg");
    expect(codeOf(() => openLiveAudio(vorbis, undefined, false))).toBe("unsupported_media_type");
  });
});
