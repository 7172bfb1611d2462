import fc, { type Arbitrary } from "fast-check";
import { encodeFrame, OPCODE, type RawFrame } from "./raw-socket.ts";

/** Frames that RFC 6455 does not allow, or halves of frames. */
const MALFORMED = {
  unmasked: () => bytes({ opcode: OPCODE.text, payload: KEEP_ALIVE, masked: false }),
  "reserved bit 1": () => bytes({ opcode: OPCODE.text, payload: KEEP_ALIVE, rsv: 4 }),
  "reserved bit 2": () => bytes({ opcode: OPCODE.text, payload: KEEP_ALIVE, rsv: 2 }),
  "reserved bit 3": () => bytes({ opcode: OPCODE.binary, payload: KEEP_ALIVE, rsv: 1 }),
  "opcode 3": () => bytes({ opcode: 3, payload: KEEP_ALIVE }),
  "opcode 15": () => bytes({ opcode: 15, payload: KEEP_ALIVE }),
  "length of 2^63": () => claiming(2n ** 63n),
  "length of 2^64 - 1": () => claiming(2n ** 64n - 1n),
  "length of 2^32": () => claiming(2n ** 32n),
  "length of 256 MiB": () => claiming(2n ** 28n),
  "length of 60 kB, half sent": () => claiming(60_000n),
  "a ping of 126 bytes": () => bytes({ opcode: OPCODE.ping, payload: Buffer.alloc(126) }),
  "a pong of 70,000 bytes": () => bytes({ opcode: OPCODE.pong, payload: Buffer.alloc(70_000) }),
  "a close of 200 bytes": () => bytes({ opcode: OPCODE.close, payload: Buffer.alloc(200, 3) }),
  "half a ping": () => bytes({ opcode: OPCODE.ping, payload: Buffer.alloc(3), fin: false }),
  "a continuation of nothing": () => bytes({ opcode: OPCODE.continuation, payload: KEEP_ALIVE }),
  "a message within a message": () =>
    bytes(
      { opcode: OPCODE.text, payload: Buffer.from("{"), fin: false },
      { opcode: OPCODE.text, payload: KEEP_ALIVE },
    ),
  "a message that never ends": () =>
    bytes(
      { opcode: OPCODE.text, payload: Buffer.from("{"), fin: false },
      ...Array.from({ length: 50 }, () => ({
        opcode: OPCODE.continuation,
        payload: Buffer.alloc(20_000, " "),
        fin: false,
      })),
    ),
  "text that is no UTF-8": () =>
    bytes({ opcode: OPCODE.text, payload: Buffer.from([0x22, 0xff, 0xc0, 0xaf, 0x22]) }),
  "text that ends within a letter": () =>
    bytes({ opcode: OPCODE.text, payload: Buffer.from([0x22, 0xe2, 0x82]) }),
  "text with half a surrogate pair": () =>
    bytes({ opcode: OPCODE.text, payload: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]) }),
  "a close of one byte": () => bytes({ opcode: OPCODE.close, payload: Buffer.from([3]) }),
  "a close with 0": () => closing(0),
  "a close with 999": () => closing(999),
  "a close with 1004": () => closing(1004),
  "a close with 1005": () => closing(1005),
  "a close with 1006": () => closing(1006),
  "a close with 1015": () => closing(1015),
  "a close with 5000": () => closing(5000),
  "a close with 65535": () => closing(65_535),
  "a close without UTF-8": () =>
    bytes({ opcode: OPCODE.close, payload: Buffer.from([0x03, 0xe8, 0xff, 0xfe]) }),
  "frames after the close": () =>
    bytes(
      { opcode: OPCODE.close, payload: Buffer.from([0x03, 0xe8]) },
      { opcode: OPCODE.text, payload: KEEP_ALIVE },
      { opcode: OPCODE.close, payload: Buffer.from([0x03, 0xe8]) },
    ),
  "half a header": () => Buffer.from([0x81]),
  "half a mask": () => Buffer.from([0x81, 0x85, 1, 2]),
  "an HTTP request": () => Buffer.from("GET /api/health HTTP/1.1\r\nhost: x\r\n\r\n"),
  zeros: () => Buffer.alloc(1_000),
  ones: () => Buffer.alloc(1_000, 0xff),
} satisfies Record<string, () => Buffer>;

export type Malformed = keyof typeof MALFORMED;

const KEEP_ALIVE = Buffer.from('{"type":"KeepAlive"}');

export const malformed: Arbitrary<Malformed> = fc.constantFrom(
  ...(Object.keys(MALFORMED) as Malformed[]),
);

export function malformedBytes(name: Malformed): Buffer {
  return MALFORMED[name]();
}

function bytes(...frames: RawFrame[]): Buffer {
  return Buffer.concat(frames.map(encodeFrame));
}

function claiming(claimed: bigint): Buffer {
  return bytes({ opcode: OPCODE.binary, payload: Buffer.alloc(2_000), claimed });
}

function closing(code: number): Buffer {
  const payload = Buffer.alloc(2);
  payload.writeUInt16BE(code);
  return bytes({ opcode: OPCODE.close, payload });
}
