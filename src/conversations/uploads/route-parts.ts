import type { OutboxBacklog } from "../../postgres/outbox-backlog.ts";
import type { Tenants } from "../../postgres/tenants.ts";
import type { WholeFiles } from "../recording/whole-files.ts";
import type { SessionAccess } from "../sessions/access.ts";
import type { FileStoring } from "./file-storing.ts";
import type { IncomingFolder } from "./incoming-folder.ts";
import type { FileUpload, UploadStore } from "./store.ts";
import { CHECKSUM_ALGORITHMS, TUS_EXTENSIONS, TUS_VERSION } from "./tus.ts";

export interface UploadRouteOptions {
  directory: SessionAccess;
  uploads: UploadStore;
  folder: IncomingFolder;
  files: Pick<WholeFiles, "refusalByHead">;
  storing: Pick<FileStoring, "store" | "runner">;
  /** Checked before a file is taken. */
  backlog: Pick<OutboxBacklog, "check">;
  /** Whose share of what all use a file takes. */
  tenants: Pick<Tenants, "ofWorkspace">;
  /** Largest file, bytes. */
  mostBytes: number;
}

/** Headers of every answer by tus. */
export const TUS_HEADERS = { "Tus-Resumable": TUS_VERSION, "Cache-Control": "no-store" };

/** What an answer to OPTIONS says of tus. */
export function optionsHeadersOf(mostBytes: number): Record<string, string> {
  return {
    ...TUS_HEADERS,
    "Tus-Version": TUS_VERSION,
    "Tus-Extension": TUS_EXTENSIONS,
    "Tus-Checksum-Algorithm": CHECKSUM_ALGORITHMS.join(","),
    "Tus-Max-Size": String(mostBytes),
  };
}

/** How far an upload is, as tus says it. */
export function headersOf({ received, size, expiresAt }: FileUpload): Record<string, string> {
  return {
    ...TUS_HEADERS,
    "Upload-Offset": String(received),
    "Upload-Length": String(size),
    "Upload-Expires": new Date(expiresAt).toUTCString(),
  };
}
