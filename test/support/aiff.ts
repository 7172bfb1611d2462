/** An AIFF file (big-endian samples) of 16-bit mono PCM at 16 kHz. */
export function aiffOf(pcm: Buffer): Buffer {
  const frames = pcm.byteLength / 2;
  const common = Buffer.alloc(26);
  common.write("COMM", 0, "latin1");
  common.writeUInt32BE(18, 4);
  common.writeUInt16BE(1, 8);
  common.writeUInt32BE(frames, 10);
  common.writeUInt16BE(16, 14);
  // 16,000 as an extended float of 80 bits.
  common.set([0x40, 0x0c, 0xfa, 0, 0, 0, 0, 0, 0, 0], 16);
  const sound = Buffer.alloc(16);
  sound.write("SSND", 0, "latin1");
  sound.writeUInt32BE(8 + pcm.byteLength, 4);
  const body = Buffer.concat([common, sound, Buffer.from(pcm).swap16()]);
  const head = Buffer.alloc(12);
  head.write("FORM", 0, "latin1");
  head.writeUInt32BE(4 + body.byteLength, 4);
  head.write("AIFF", 8, "latin1");
  return Buffer.concat([head, body]);
}
