import { describe, expect, it } from "vitest";
import {
  isOpusMediaType,
  isOpusPacket,
  joinOpusPackets,
  OPUS_MEDIA_TYPE,
  opusPacketSamples,
  splitOpusPackets,
} from "../../../../src/base/audio/opus-packets.ts";
import { StreamHead } from "../../../../src/conversations/recording/stream-head.ts";
import { encodeVariety, opusVarieties } from "../../../support/opus-variety.ts";
import { OpusVerdict } from "../../../support/opus-verdict.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";

/** Ten times as many were tried: they take half a minute. */
const PACKETS = 10_000;

function packet(configuration: number, code: number, count = 0): Uint8Array {
  return Uint8Array.of((configuration << 3) | code, count, 0);
}

/** Whether a stream that begins with this packet is refused at once. */
function isRefusedAsHead(packet: Uint8Array, framing: "packet" | "length_prefixed"): boolean {
  const settings = { encoding: "opus", sampleRate: 16_000, channels: 1, interim: true } as const;
  const head = new StreamHead({ ...settings, framing });
  try {
    head.take(framing === "packet" ? packet : joinOpusPackets([packet]));
    return false;
  } catch {
    return true;
  }
}

describe("opus packets", () => {
  it("opus packets: a packet's duration is that of its frames", () => {
    const frames = [0, 1, 2, 3, 12, 13, 16, 17, 18, 19, 31].map((configuration) =>
      opusPacketSamples(packet(configuration, 0), 16_000),
    );
    expect(frames).toEqual([160, 320, 640, 960, 160, 320, 40, 80, 160, 320, 320]);
    expect(opusPacketSamples(packet(31, 1), 48_000)).toBe(1_920);
    expect(opusPacketSamples(packet(31, 2), 48_000)).toBe(1_920);
    expect(opusPacketSamples(packet(1, 3, 0xc0 | 3), 16_000)).toBe(960);
    expect(opusPacketSamples(Uint8Array.of(8), 16_000)).toBe(320);
  });

  it("opus packets: what tells no length is taken for 20 ms, and is no packet", () => {
    const broken = [
      new Uint8Array(0),
      packet(1, 3, 0),
      Uint8Array.of(11),
      packet(3, 3, 3),
      packet(1, 3, 63),
    ];
    expect(broken.map((each) => opusPacketSamples(each, 16_000))).toEqual([
      320, 320, 320, 320, 320,
    ]);
    expect(broken.map(isOpusPacket)).toEqual(broken.map(() => false));
    expect(opusPacketSamples(packet(3, 3, 2), 16_000)).toBe(1_920);
  });

  it("opus packets: those are packets that libopus decodes, and none else", async () => {
    const libopus = await OpusVerdict.load();
    const random = new SeededRandom(6_716);
    const tally = { packets: 0, others: 0 };
    for (let index = 0; index < 20_000; index += 1) {
      const bytes = Uint8Array.from(
        { length: random.below([8, 40, 400, 3_000][index % 4] ?? 8) },
        () => random.below(256),
      );
      // Few frames, so that it may be one.
      if (index % 3 === 0 && bytes.length > 1) {
        bytes[0] = 3 | (bytes[0] ?? 0);
        bytes[1] = ((bytes[1] ?? 0) & 0xc0) | (1 + random.below(6));
        if (bytes.length > 2 && random.chance(0.2)) bytes[2] = 0xff;
      }
      const isPacket = isOpusPacket(bytes);
      tally[isPacket ? "packets" : "others"] += 1;
      if (isPacket !== libopus.decodes(bytes)) expect.fail(Buffer.from(bytes).toString("hex"));
    }
    expect(tally.packets).toBeGreaterThan(5_000);
    expect(tally.others).toBeGreaterThan(5_000);
  });

  it("opus packets: of those that an encoder made in all its ways none looks like anything else", () => {
    const ways = opusVarieties();
    const odd: string[] = [];
    let count = 0;
    for (const [index, way] of ways.entries()) {
      for (const packet of encodeVariety(way, Math.ceil(PACKETS / ways.length), index)) {
        count += 1;
        const isRefused = ["packet", "length_prefixed"].some((framing) =>
          isRefusedAsHead(packet, framing as "packet"),
        );
        if (!isOpusPacket(packet) || isRefused)
          odd.push(`${JSON.stringify(way)} ${packet.toString("hex")}`);
      }
    }
    expect(count).toBeGreaterThanOrEqual(PACKETS);
    expect(odd).toEqual([]);
  });

  it("opus packets: joined and split they are the same, without what is cut off", () => {
    const packets = [Uint8Array.of(1, 2, 3), new Uint8Array(0), new Uint8Array(700).fill(9)];
    const joined = joinOpusPackets(packets);
    expect(splitOpusPackets(joined)).toEqual(packets);
    expect(splitOpusPackets(joined.subarray(0, joined.length - 1))).toEqual(packets.slice(0, 2));
    expect(splitOpusPackets(joined.subarray(0, 8))).toEqual(packets.slice(0, 2));
    expect(splitOpusPackets(new Uint8Array(0))).toEqual([]);
    expect(() => joinOpusPackets([new Uint8Array(65_536)])).toThrow(RangeError);
  });

  it("opus packets: the media type tells their framing", () => {
    expect(isOpusMediaType(OPUS_MEDIA_TYPE)).toBe(true);
    expect(isOpusMediaType("Audio/Opus; Framing=length-prefixed")).toBe(true);
    expect(isOpusMediaType("audio/opus")).toBe(false);
    expect(isOpusMediaType("audio/ogg;framing=length-prefixed")).toBe(false);
  });
});
