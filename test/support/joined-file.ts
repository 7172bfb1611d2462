import { bytesInMemory } from "../../src/base/codecs/file-bytes.ts";
import { recordingStarts } from "../../src/base/codecs/joined-recordings.ts";
import { openSoundFile } from "../../src/base/codecs/sound-file.ts";
import type { AudioContainer } from "../../src/conversations/recording/audio-container.ts";
import type { FileConverter } from "../../src/conversations/recording/audio-files/file-converter.ts";
import { readableUpload } from "../../src/conversations/recording/readable-upload.ts";

/** Files one after the other in one upload, as it is checked, and its sound let go. */
export async function readJoined(
  files: readonly Uint8Array[],
  converter: Pick<FileConverter, "convert" | "isAvailable">,
): Promise<AudioContainer> {
  const data = Buffer.concat(files);
  const sounds = {
    // What is not opened here is decoded.
    measure: async () => {
      const file = openSoundFile(data);
      return "error" in file
        ? file
        : { ...file, isJoined: recordingStarts(bytesInMemory(data)).length > 0 };
    },
    starts: async () => recordingStarts(bytesInMemory(data)),
  };
  const { audio, release } = await readableUpload(
    {
      ...{ content: { kind: "memory", data }, bytes: data.length, mediaType: "audio/mp4" },
      ...{ sha256: "", filename: "", fields: {} },
    },
    { sounds, converter, accountId: "a", seconds: 900, signal: new AbortController().signal },
  );
  await release();
  return audio;
}
