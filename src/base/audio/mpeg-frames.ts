/**
 * Bit rates in kbit/s, by the index in the header: of MPEG-1 layers II and III, and of both layers
 * in MPEG-2 and 2.5.
 */
const RATES_1_II = [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384];
const RATES_1_III = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const RATES_2 = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const SAMPLE_RATES = [44_100, 48_000, 32_000];
const HEADER_BYTES = 4;
const MONO = 3;

/** What the header of an MPEG frame says. */
export interface FrameHeader {
  /** Length of the whole frame, bytes. */
  length: number;
  layer: 2 | 3;
  /** 1, 2, or 2.5. */
  version: 1 | 2 | 2.5;
  sampleRate: number;
  channels: 1 | 2;
  /** Samples of each channel. */
  samples: number;
  /** Bits that no stream changes: version, layer and sample rate; channels, rights and emphasis. */
  kind: number;
}

/**
 * Tells whether these bytes begin MPEG audio, layer II or III: "MP3" when two headers agree, the
 * second one at the place where the first frame ends; "more" when that place is not there yet. If
 * the first header is repeated earlier, the bytes are a tone or a constant. Layer I is not
 * searched: it is not in use, and its mark equals the sample -1.
 */
export function isMpegStart(head: Uint8Array): "MP3" | "none" | "more" {
  if (head.byteLength < HEADER_BYTES) return mayBegin(head) ? "more" : "none";
  const first = readFrameHeader(head);
  if (first === undefined) return "none";
  const again = Buffer.from(head.buffer, head.byteOffset, head.byteLength).indexOf(
    head.subarray(0, HEADER_BYTES),
    1,
  );
  if (again > 0 && again < first.length) return "none";
  const rest = head.subarray(first.length);
  if (rest.byteLength < HEADER_BYTES) return mayBegin(rest) ? "more" : "none";
  return readFrameHeader(rest)?.kind === first.kind ? "MP3" : "none";
}

/** True for bytes that an MPEG header may begin with, and for no bytes. */
function mayBegin([first = 0xff, second = 0xfb]: Uint8Array): boolean {
  return first === 0xff && isMark(second);
}

/** Checks the second byte: the sync bits, no reserved version, layer II or III. */
function isMark(second: number): boolean {
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  return (second & 0xe0) === 0xe0 && version !== 1 && (layer === 1 || layer === 2);
}

/** The header of layer II or III at this place; undefined when there is none. */
export function readFrameHeader(bytes: Uint8Array, at = 0): FrameHeader | undefined {
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes.subarray(at, at + HEADER_BYTES);
  if (first !== 0xff || !isMark(second)) return undefined;
  const version = (second >> 3) & 3;
  const isLayer3 = ((second >> 1) & 3) === 1;
  const isOne = version === 3;
  const table = isOne ? (isLayer3 ? RATES_1_III : RATES_1_II) : RATES_2;
  const bitRate = table[(third >> 4) - 1];
  const baseRate = SAMPLE_RATES[(third >> 2) & 3];
  const emphasis = fourth & 3;
  if (bitRate === undefined || baseRate === undefined || emphasis === 2) return undefined;
  const sampleRate = baseRate >> (isOne ? 0 : version === 2 ? 1 : 2);
  const perSecond = isLayer3 && !isOne ? 72 : 144;
  const padding = (third >> 1) & 1;
  const isMono = fourth >> 6 === MONO;
  return {
    length: Math.floor((perSecond * bitRate * 1_000) / sampleRate) + padding,
    layer: isLayer3 ? 3 : 2,
    version: isOne ? 1 : version === 2 ? 2 : 2.5,
    sampleRate,
    channels: isMono ? 1 : 2,
    samples: perSecond * 8,
    kind:
      ((second & 0xfe) << 16) | ((third & 0x0c) << 8) | ((isMono ? 1 : 0) << 7) | (fourth & 0x0f),
  };
}
