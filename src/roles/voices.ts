import { PostgresRedactedSpans, RecordingStore } from "../features/recording/playback-store.ts";
import { SessionStore } from "../features/sessions/store.ts";
import { createVoices } from "../features/voices/feature.ts";
import type { WorkspaceStore } from "../features/workspaces/store.ts";
import { PlacedVoices } from "../inference/placed-voices.ts";
import { WorkerClient } from "../inference/worker-client.ts";
import { type AppContext, featureContext } from "./shared.ts";

/** Remembered voices, with the workers that compare them. */
export function openVoices(app: AppContext, workspaces: WorkspaceStore) {
  const { config, clock, shared } = app;
  const { pool, placement, blobs, verified, keys } = shared;
  const files = { blobs, verified };
  const client = new WorkerClient({ tls: config.tls, now: () => clock.now() });
  return createVoices(featureContext(app), {
    directory: new SessionStore(pool),
    workspaces,
    recordings: new RecordingStore(pool, files, new PostgresRedactedSpans(pool)),
    voices: new PlacedVoices({ placement, client, key: config.workerKey }),
    voiceKey: keys.voiceKey,
  });
}
