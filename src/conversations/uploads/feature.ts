import { systemRuntime } from "../../base/runtime.ts";
import type { OutboxBacklog } from "../../postgres/outbox-backlog.ts";
import type { FeatureContext } from "../context.ts";
import type { AudioStore } from "../recording/audio-store/audio-store.ts";
import type { DeviceSessionStore } from "../recording/device-sessions-store.ts";
import type { WholeFiles } from "../recording/whole-files.ts";
import type { SessionStore } from "../sessions/store.ts";
import { FileStoring } from "./file-storing.ts";
import { IncomingFolder } from "./incoming-folder.ts";
import { uploadRoutes } from "./routes.ts";
import { UploadStore } from "./store.ts";

interface CreateUploadsOptions {
  directory: SessionStore;
  deviceSessions: Pick<DeviceSessionStore, "stop">;
  blobs: Pick<AudioStore, "uploadsFolder" | "temporaryFolder">;
  files: WholeFiles;
  backlog: Pick<OutboxBacklog, "check">;
  /** Largest file that comes in parts, bytes. */
  mostBytes: number;
}

/** Whole files for sessions, in one request or resumed as often as it takes. */
export function createUploads(
  { pool, ceilings, notifier, log, stack, tenants }: FeatureContext,
  { directory, deviceSessions: sessions, blobs, files, backlog, mostBytes }: CreateUploadsOptions,
) {
  const uploads = new UploadStore(pool, ceilings);
  const folder = new IncomingFolder(blobs.uploadsFolder, blobs.temporaryFolder);
  const storing = new FileStoring({
    ...{ uploads, folder, files, sessions, notifier, log, runtime: systemRuntime },
  });
  stack.push("uploaded files", () => storing.runner.stop());
  return {
    /** To be started where files are stored. */
    storing,
    routes: uploadRoutes({
      ...{ directory, uploads, folder, files, storing, backlog, mostBytes, tenants },
    }),
  };
}
