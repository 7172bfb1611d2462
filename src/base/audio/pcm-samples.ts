import { bytesPerFrame, type PcmFormat, type SampleEncoding } from "./wav.ts";

type SampleReader = (view: DataView, at: number) => number;

const MULAW_BIAS = 0x84;
/** Every second bit of A-law is inverted on the line. */
const ALAW_MASK = 0x55;

/** Read one sample each, scaled to 16 bits. */
const READERS: Readonly<Record<SampleEncoding, SampleReader>> = {
  u8: (view, at) => (view.getUint8(at) - 128) * 256,
  s16le: (view, at) => view.getInt16(at, true),
  s24le: (view, at) => (view.getUint16(at, true) + view.getInt8(at + 2) * 65_536) / 256,
  s32le: (view, at) => view.getInt32(at, true) / 65_536,
  f32le: (view, at) => view.getFloat32(at, true) * 32_768,
  f64le: (view, at) => view.getFloat64(at, true) * 32_768,
  mulaw: (view, at) => fromMulaw(view.getUint8(at)),
  alaw: (view, at) => fromAlaw(view.getUint8(at)),
};

/** Decodes one byte of µ-law (ITU-T G.711): sign, exponent and mantissa, all inverted. */
function fromMulaw(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + MULAW_BIAS) << ((bits >> 4) & 7)) - MULAW_BIAS;
  return (bits & 0x80) === 0 ? magnitude : -magnitude;
}

/** Decodes one byte of A-law (ITU-T G.711): sign, exponent and mantissa. */
function fromAlaw(byte: number): number {
  const bits = byte ^ ALAW_MASK;
  const exponent = (bits >> 4) & 7;
  const step = ((bits & 0x0f) << 4) + 8;
  const magnitude = exponent === 0 ? step : (step + 0x100) << (exponent - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
}

/** A sample on the 16-bit scale; NaN in a broken float file becomes silence. */
export function toInt16(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value) || 0));
}

/** The whole frames of `bytes` as 16-bit mono, as `mix` makes it. */
export function readMono(format: PcmFormat, bytes: Uint8Array): Int16Array {
  return mix(readSamples(format, bytes), format.channels);
}

/** Frames that are mixed alike. */
const MIX_FRAMES = 4_096;
/**
 * Channels that have nothing in common mix to 1/n² of the loudest one's power at least; a mix of
 * less than this share of that has lost what they say, as one is another turned upside down.
 */
const CANCELLED = 0.25;

/** Interleaved samples as 16-bit mono: their mean, or the loudest channel where the mean cancels them. */
function mix(samples: Float64Array | Int16Array, channels: number): Int16Array {
  const mono = new Int16Array(Math.floor(samples.length / channels));
  for (let from = 0; from < mono.length; from += MIX_FRAMES) {
    const block = samples.subarray(from * channels, (from + MIX_FRAMES) * channels);
    mono.set(mixBlock(block, channels), from);
  }
  return mono;
}

function mixBlock(samples: Float64Array | Int16Array, channels: number): Int16Array {
  const mono = new Int16Array(Math.floor(samples.length / channels));
  const [powers, sums] = [new Float64Array(channels), new Float64Array(channels)];
  const mixed = { power: 0, sum: 0 };
  for (let frame = 0, at = 0; frame < mono.length; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++, at++) {
      const sample = samples[at] ?? 0;
      sum += sample;
      powers[channel] = (powers[channel] ?? 0) + sample * sample;
      sums[channel] = (sums[channel] ?? 0) + sample;
    }
    mono[frame] = toInt16(sum / channels);
    mixed.power += (sum / channels) ** 2;
    mixed.sum += sum / channels;
  }
  if (channels === 1) return mono;
  // An offset that all have stays where what is said cancels out: it is looked at without as well.
  const soundOf = (power: number, sum: number): number => power - sum ** 2 / mono.length;
  const sounds = powers.map((power, channel) => soundOf(power, sums[channel] ?? 0));
  const chosen =
    cancelled(mixed.power * channels * channels, powers, 0) ??
    cancelled(soundOf(mixed.power, mixed.sum) * channels * channels, sounds, mono.length);
  if (chosen === undefined) return mono;
  return mono.map((_, frame) => toInt16(samples[frame * channels + chosen] ?? 0));
}

/**
 * The loudest channel, where what is left in the mean is next to nothing of it.
 *
 * @param least power of what counts as sound: less may be the rounding of sums
 */
function cancelled(left: number, powers: Float64Array, least: number): number | undefined {
  const loudest = Math.max(...powers);
  const isCancelled = loudest >= least && left < CANCELLED * loudest;
  return isCancelled ? powers.indexOf(loudest) : undefined;
}

/**
 * The whole frames of `bytes` as 16-bit samples of `channels` channels, interleaved. Channels that
 * the audio lacks are silent, and further ones are left out.
 */
export function readChannels(format: PcmFormat, bytes: Uint8Array, channels: number): Int16Array {
  const samples = readSamples(format, bytes);
  const frames = samples.length / format.channels;
  const kept = Math.min(channels, format.channels);
  const read = new Int16Array(frames * channels);
  for (let frame = 0; frame < frames; frame++) {
    for (let channel = 0; channel < kept; channel++) {
      const sample = samples[frame * format.channels + channel] ?? 0;
      read[frame * channels + channel] = toInt16(sample);
    }
  }
  return read;
}

/** All samples of the whole frames, interleaved, on the 16-bit scale. */
function readSamples(format: PcmFormat, bytes: Uint8Array): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = READERS[format.encoding];
  const width = format.bitsPerSample / 8;
  const frames = Math.floor(bytes.byteLength / bytesPerFrame(format));
  const samples = new Float64Array(frames * format.channels);
  for (let index = 0; index < samples.length; index++) samples[index] = read(view, index * width);
  return samples;
}

/**
 * Interleaved samples of `own` channels as those of `wanted` ones: with one, as `mix` makes it; of
 * several, those that the audio lacks are silent and further ones left out.
 */
export function toChannels(samples: Int16Array, own: number, wanted: number): Int16Array {
  if (own === wanted) return samples;
  if (wanted === 1) return mix(samples, own);
  const frames = Math.floor(samples.length / own);
  const result = new Int16Array(frames * wanted);
  for (let frame = 0; frame < frames; frame++) {
    for (let channel = 0; channel < Math.min(own, wanted); channel++) {
      result[frame * wanted + channel] = samples[frame * own + channel] ?? 0;
    }
  }
  return result;
}

/** One channel of interleaved samples. */
export function channelOf(interleaved: Int16Array, channel: number, channels: number): Int16Array {
  const samples = new Int16Array(Math.floor(interleaved.length / channels));
  for (let frame = 0; frame < samples.length; frame++) {
    samples[frame] = interleaved[frame * channels + channel] ?? 0;
  }
  return samples;
}
