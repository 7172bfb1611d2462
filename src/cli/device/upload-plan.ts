import { openSoundFile } from "../../base/codecs/sound-file.ts";
import { soundKind } from "../../base/codecs/sound-kinds.ts";
import { READABLE_FILES } from "../../base/codecs/sound-types.ts";
import { CommandFailure } from "../client/command-context.ts";
import { type AudioChunk, cutIntoChunks } from "./audio-chunks.ts";
import { decodeRecording } from "./recording-file.ts";
import { durationSeconds } from "./wave-file.ts";

/** How a file is sent: always the same way for the same bytes, so that it can be gone on with. */
export interface UploadPlan {
  readonly seconds: number;
  readonly chunks: () => Iterable<AudioChunk>;
}

/** Longest file that is sent as it is, in one chunk: the service takes 15 min and 64 MiB. */
const WHOLE_SECONDS = 14 * 60;
const WHOLE_BYTES = 60 * 1024 * 1024;
/** Length of the chunks of all others. */
const CHUNK_SECONDS = 30;

/**
 * Plans the upload of a file: a compressed one of moderate length goes as it is, so that the service
 * keeps it as it was; WAV is cut into chunks, and so is what a long compressed file decodes to.
 * Throws CommandFailure when it holds no sound that can be read.
 */
export async function planUpload(name: string, bytes: Buffer): Promise<UploadPlan> {
  const kind = soundKind(bytes);
  if (kind !== "wav" && bytes.length <= WHOLE_BYTES) {
    const file = openSoundFile(bytes);
    const seconds = "error" in file ? 0 : file.frames / file.sampleRate;
    if (!("error" in file) && seconds <= WHOLE_SECONDS) {
      const { mediaType } = file;
      const whole = { sequence: 0, mediaType, bytes: new Uint8Array(bytes), seconds };
      return { seconds, chunks: () => [{ ...whole, recordedAt: seconds }] };
    }
  }
  const audio = await decodeRecording(bytes);
  if ("error" in audio) {
    throw new CommandFailure(`${name}: ${audio.error} Files may be ${READABLE_FILES}.`);
  }
  const seconds = durationSeconds(audio);
  if (seconds === 0) throw new CommandFailure(`${name} holds no sound`);
  return { seconds, chunks: () => cutIntoChunks([audio], CHUNK_SECONDS, "wav") };
}
