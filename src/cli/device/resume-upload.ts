import type { UnstoredAudio } from "../../client/audio-sender.ts";
import { ApiError } from "../../client/errors.ts";
import { type AudioChunk, cutIntoChunks } from "./audio-chunks.ts";
import type { VirtualDevice } from "./virtual-device.ts";
import { frameBytes, type WaveAudio } from "./wave-file.ts";

/** Duration of an uploaded chunk. */
const CHUNK_SECONDS = 10;
/**
 * A fragment of which the service could not tell any more that it is stored has begun at most one
 * chunk; another one is allowed for.
 */
const MOST_TAKEN = 2;

/** A stream that was ended in its middle. */
interface CutOffStream {
  readonly sessionId: string;
  /** What the bytes of the stream are. */
  readonly format: Omit<WaveAudio, "data">;
  readonly unstored: UnstoredAudio;
}

/**
 * Uploads what was recorded and not stored when the right to a stream ended, and stops the session
 * with the last chunk. `onStored` is called with the seconds of the stream that are stored.
 */
export async function resumeUpload(
  device: VirtualDevice,
  { sessionId, format, unstored }: CutOffStream,
  signal: AbortSignal,
  onStored: (seconds: number) => void,
): Promise<void> {
  const { bytes, offset, chunkSequence } = unstored;
  const rest = { ...format, data: Buffer.from(bytes) };
  const before = offset / frameBytes(rest) / rest.sampleRate;
  let shift = 0;
  let last = chunkSequence - 1;
  for (const chunk of cutIntoChunks([rest], CHUNK_SECONDS, "pcm", chunkSequence)) {
    while (!(await isStored({ ...chunk, sequence: chunk.sequence + shift }))) shift += 1;
    last = chunk.sequence + shift;
    onStored(before + chunk.recordedAt);
  }
  await device.stopSession(sessionId, last, signal);

  /** False when the service has a chunk of the stream there. */
  async function isStored(chunk: AudioChunk): Promise<boolean> {
    try {
      await device.upload(sessionId, chunk, signal);
      return true;
    } catch (error) {
      const isTaken = error instanceof ApiError && error.code === "chunk_conflict";
      if (isTaken && shift < MOST_TAKEN) return false;
      throw error;
    }
  }
}
