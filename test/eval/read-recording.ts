/** The samples of a 16 kHz mono WAV file, 16-bit or 32-bit float. Throws on anything else. */
export function readRecording(bytes: Uint8Array): Int16Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let encoding = "";
  for (let at = 12; at + 8 <= file.length; ) {
    const id = file.toString("latin1", at, at + 4);
    const length = file.readUInt32LE(at + 4);
    const body = file.subarray(at + 8, at + 8 + length);
    if (id === "fmt ") encoding = encodingOf(body);
    if (id === "data") return decode(body, encoding);
    at += 8 + length + (length & 1);
  }
  throw new Error("no audio in this file");
}

function encodingOf(format: Buffer): string {
  const [tag, channels, rate, bits] = [
    format.readUInt16LE(0),
    format.readUInt16LE(2),
    format.readUInt32LE(4),
    format.readUInt16LE(14),
  ];
  if (channels !== 1 || rate !== 16000)
    throw new Error(`need 16 kHz mono, not ${rate}/${channels}`);
  return `${tag}/${bits}`;
}

function decode(data: Buffer, encoding: string): Int16Array {
  if (encoding === "1/16") {
    return Int16Array.from({ length: data.length >> 1 }, (_, i) => data.readInt16LE(2 * i));
  }
  if (encoding === "3/32") {
    return Int16Array.from({ length: data.length >> 2 }, (_, i) =>
      Math.max(-32768, Math.min(32767, Math.round(32768 * data.readFloatLE(4 * i)))),
    );
  }
  throw new Error(`unknown encoding ${encoding}`);
}
