import { findDecoder } from "../base/decoder/decoder-program.ts";
import type { Log } from "../base/log.ts";
import type { Stack } from "../base/stack.ts";
import { FileConverter } from "../conversations/recording/audio-files/file-converter.ts";
import type { AudioStore } from "../conversations/recording/audio-store/audio-store.ts";
import { FolderBlobs } from "../conversations/recording/audio-store/blobs.ts";
import { PostgresMovedRecords } from "../conversations/recording/audio-store/moved-records-store.ts";
import { MovingStore } from "../conversations/recording/audio-store/moving-store.ts";
import { S3Blobs } from "../conversations/recording/audio-store/s3-blobs.ts";
import { Sounds } from "../conversations/recording/sounds.ts";
import { AudioRedaction, type RedactionFiles } from "../conversations/transcript/redaction.ts";
import { PostgresRedactions } from "../conversations/transcript/redaction-store.ts";
import type { Pool } from "../postgres/pool.ts";
import type { Config } from "./config.ts";

/** The stored audio, and what is done with its sound. */
export interface OpenedAudio {
  blobs: AudioStore;
  /** The same store while audio is moved to it from another one. */
  moving: MovingStore | undefined;
  /** Measures and decodes sound. */
  sounds: Sounds;
  /** Decodes uploads of formats that we do not read ourselves. */
  converter: FileConverter;
}

/** Opens the store of the audio, and what measures and decodes sound. */
export async function openAudio(
  config: Config,
  pool: Pool,
  log: Log,
  stack: Stack,
): Promise<OpenedAudio> {
  const program = findDecoder(config.ffmpeg);
  if (config.roles.has("front")) {
    log.info({ decoder: program?.name ?? "none" }, "what decodes files of other formats");
  }
  const to = await openStore(config);
  const from = await openFormer(config);
  const records = new PostgresMovedRecords(pool);
  const moving = from === undefined ? undefined : new MovingStore({ to, from, records });
  const blobs = moving ?? to;
  await blobs.start();
  if (moving !== undefined) {
    const fields = { from: moving.former.names.address, to: moving.names.address };
    log.info(
      fields,
      "audio of the former store is read there until voice admin audio move is done",
    );
  }
  stack.push("audio files", () => blobs.stop());
  const sounds = new Sounds();
  stack.push("sound threads", () => sounds.stop());
  return {
    blobs,
    moving,
    sounds,
    converter: new FileConverter({ folder: blobs.temporaryFolder, program }),
  };
}

/** Nothing of S3 is loaded where the audio is in a folder. */
async function openStore({ audioStore, blobFolder: folder }: Config): Promise<AudioStore> {
  if (audioStore === undefined) return new FolderBlobs(folder);
  return S3Blobs.open({ ...audioStore, folder });
}

/** Where the audio was kept that is moved; undefined where none is. */
async function openFormer(config: Config): Promise<AudioStore | undefined> {
  const { audioMoveFrom: former, blobFolder } = config;
  if (former === undefined) return undefined;
  if ("folder" in former) return new FolderBlobs(former.folder);
  return S3Blobs.open({ ...former, folder: blobFolder });
}

/** Makes redacted spans silent in the stored audio. */
export function createRedaction(shared: OpenedAudio & { pool: Pool }, log: Log): AudioRedaction {
  return new AudioRedaction(new PostgresRedactions(shared.pool), redactionFiles(shared), log);
}

export function redactionFiles({
  blobs,
  sounds,
}: Pick<OpenedAudio, "blobs" | "sounds">): RedactionFiles {
  return {
    read: (sessionId, sha256) => blobs.read(sessionId, sha256),
    replace: (sessionId, sha256, bytes) => blobs.replace(sessionId, sha256, bytes),
    // Redactions are carried out one after the other.
    wave: (data, lead) => sounds.wave("redactions", lead === undefined ? { data } : { data, lead }),
  };
}
