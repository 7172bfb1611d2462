import type { Authenticator } from "../../access/authenticator.ts";
import { AppError } from "../../base/errors.ts";
import type { DeviceStore } from "../../tenancy/devices/store.ts";
import type { WorkshopStore } from "../../tenancy/workspaces/workshops-store.ts";
import type { FeatureContext } from "../context.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { FileConverter } from "./audio-files/file-converter.ts";
import type { AudioStore } from "./audio-store/audio-store.ts";
import { PostgresChunkStore } from "./chunk-store.ts";
import { type DeviceSessionOptions, deviceSessionRoutes } from "./device-sessions.ts";
import { PostgresDeviceSessions } from "./device-sessions-store.ts";
import type { AudioWatch } from "./durable-files/audio-watch.ts";
import type { AudioMending } from "./integrity/audio-mending.ts";
import type { VerifiedAudio } from "./integrity/verified-audio.ts";
import { sessionAudioRoutes } from "./playback.ts";
import { PostgresRedactedSpans, RecordingStore } from "./playback-store.ts";
import type { Sounds } from "./sounds.ts";
import { sessionStartRoutes } from "./start.ts";
import { type UploadAudioOptions, uploadAudioRoutes } from "./upload.ts";
import { WholeFiles } from "./whole-files.ts";

/** Two parts of decoded sound: what is left is for audio that comes live, bytes. */
const LEAST_FREE_BYTES = 128 * 1024 * 1024;

function nearlyFull(): AppError {
  const message = "The disk of the audio is nearly full; no more sound is decoded to it.";
  return new AppError("storage_full", message, { retryAfter: 10 });
}

interface CreateRecordingOptions extends Pick<UploadAudioOptions, "backlog" | "heartbeats"> {
  directory: SessionStore;
  devices: Pick<DeviceStore, "find">;
  workshops: Pick<WorkshopStore, "find">;
  authenticator: Pick<Authenticator, "revalidate">;
  blobs: AudioStore;
  sounds: Sounds;
  converter: FileConverter;
  verified: VerifiedAudio;
  mending: AudioMending;
  publicUrl: string | undefined;
  /** Of the disk of the audio. */
  disk: Pick<AudioWatch, "room">;
}

/** Audio: from the start of a session over its uploads to hearing it again. */
export function createRecording(
  { pool, clock, notifier, queues, ceilings, engines, tenants, others }: FeatureContext,
  {
    directory,
    devices,
    workshops,
    authenticator,
    blobs,
    sounds,
    converter,
    verified,
    mending,
    publicUrl,
    disk,
    ...intake
  }: CreateRecordingOptions,
) {
  const sessions = new PostgresDeviceSessions(pool, others, undefined, ceilings);
  const chunks = new PostgresChunkStore(pool);
  queues.add(chunks);
  const spans = new PostgresRedactedSpans(pool);
  const recordings = new RecordingStore(pool, { blobs, sounds, verified }, spans);
  /** Whole recordings, which become the chunks of a session. */
  const files = new WholeFiles({
    ...{ chunks, blobs, sounds, converter, notifier, mending },
    ...{ backlog: intake.backlog, folder: blobs.temporaryFolder },
    async assertRoom(sessionId) {
      if ((disk.room?.free ?? LEAST_FREE_BYTES) < LEAST_FREE_BYTES) throw nearlyFull();
      await ceilings.assertSessionBytes(pool, sessionId);
    },
  });
  queues.add(files);
  /** For devices that come over another transport. */
  const starting = { sessions, workshops, engines, notifier };
  const deviceSessions: DeviceSessionOptions = { ...starting, publicUrl };
  return {
    deviceSessions,
    files,
    routes: [
      ...deviceSessionRoutes(deviceSessions),
      ...uploadAudioRoutes({
        ...{ directory, tenants, chunks, blobs, notifier, mending, ...intake },
        ...{ sounds, converter },
      }),
      ...sessionAudioRoutes({ directory, recordings, authenticator, clock }),
      ...sessionStartRoutes({ directory, devices, ...starting }),
    ],
  };
}
