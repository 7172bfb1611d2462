import { SESSION_RATE } from "./sample-rate.ts";

const BYTES_PER_SAMPLE = 2;
const RIFF_LIMIT = 0xffffffff;
/** `fmt ` chunk and the head of `data`. */
const TAIL_BYTES = 8 + 16 + 8;

/**
 * The header of a WAV file of 16 kHz mono 16-bit samples, to be followed by
 * them. Beyond 4 GiB (37 hours) it is RF64 (EBU Tech 3306).
 */
export function wavHeader(samples: number): Buffer {
  const dataBytes = samples * BYTES_PER_SAMPLE;
  const riffBytes = 4 + TAIL_BYTES + dataBytes;
  if (riffBytes <= RIFF_LIMIT) {
    return Buffer.concat([riffHead("RIFF", riffBytes), formatAndData(dataBytes)]);
  }
  const ds64 = Buffer.alloc(8 + 28);
  ds64.write("ds64", 0, "latin1");
  ds64.writeUInt32LE(28, 4);
  ds64.writeBigUInt64LE(BigInt(riffBytes + ds64.length), 8);
  ds64.writeBigUInt64LE(BigInt(dataBytes), 16);
  ds64.writeBigUInt64LE(BigInt(samples), 24);
  return Buffer.concat([riffHead("RF64", RIFF_LIMIT), ds64, formatAndData(RIFF_LIMIT)]);
}

function riffHead(form: "RIFF" | "RF64", bytes: number): Buffer {
  const head = Buffer.alloc(12);
  head.write(form, 0, "latin1");
  head.writeUInt32LE(bytes, 4);
  head.write("WAVE", 8, "latin1");
  return head;
}

function formatAndData(dataBytes: number): Buffer {
  const tail = Buffer.alloc(TAIL_BYTES);
  tail.write("fmt ", 0, "latin1");
  tail.writeUInt32LE(16, 4);
  // PCM, one channel.
  tail.writeUInt16LE(1, 8);
  tail.writeUInt16LE(1, 10);
  tail.writeUInt32LE(SESSION_RATE, 12);
  tail.writeUInt32LE(SESSION_RATE * BYTES_PER_SAMPLE, 16);
  tail.writeUInt16LE(BYTES_PER_SAMPLE, 20);
  tail.writeUInt16LE(8 * BYTES_PER_SAMPLE, 22);
  tail.write("data", 24, "latin1");
  tail.writeUInt32LE(dataBytes, 28);
  return tail;
}
