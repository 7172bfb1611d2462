import { durationSeconds, encodeWave, frameBytes, toPcm16, type WaveAudio } from "./wave-file.ts";

export type ChunkCodec = "wav" | "pcm";

/** One upload: its bytes, their media type, and the position in the recording where it ends. */
export interface AudioChunk {
  readonly sequence: number;
  readonly mediaType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly seconds: number;
  /** Seconds of audio up to the end of this chunk: the time at which a device has recorded it. */
  readonly recordedAt: number;
}

/**
 * Cuts consecutive recordings into chunks of equal length, numbered from `sequence` on; the last of
 * each is shorter.
 */
export function* cutIntoChunks(
  recordings: readonly WaveAudio[],
  chunkSeconds: number,
  codec: ChunkCodec,
  sequence = 0,
): Generator<AudioChunk> {
  let next = sequence;
  let recordedAt = 0;
  for (const recording of recordings) {
    const audio = codec === "pcm" ? toPcm16(recording) : recording;
    const step = Math.max(1, Math.round(chunkSeconds * audio.sampleRate)) * frameBytes(audio);
    for (let at = 0; at < audio.data.length; at += step) {
      const part = { ...audio, data: audio.data.subarray(at, at + step) };
      const seconds = durationSeconds(part);
      recordedAt += seconds;
      yield { sequence: next++, seconds, recordedAt, ...encode(part, codec) };
    }
  }
}

function encode(audio: WaveAudio, codec: ChunkCodec): Pick<AudioChunk, "mediaType" | "bytes"> {
  if (codec === "wav") return { mediaType: "audio/wav", bytes: encodeWave(audio) };
  const { sampleRate, channels, data } = audio;
  const mediaType = `audio/pcm;rate=${sampleRate};channels=${channels};encoding=s16le`;
  return { mediaType, bytes: new Uint8Array(data) };
}
