import { AppError } from "../../base/errors.ts";
import type { ByteSink, Request } from "../../rest/route.ts";
import type { WholeFiles } from "../recording/whole-files.ts";
import { IncomingFile } from "./incoming-file.ts";
import type { IncomingFolder } from "./incoming-folder.ts";
import { type FileUpload, RETENTION_MS, type UploadStore } from "./store.ts";
import { readChecksum, readOffset } from "./tus.ts";

/** Bytes of a file after which it is checked what it is. */
const HEAD_BYTES = 64;

interface ReceivingOptions {
  uploads: UploadStore;
  folder: IncomingFolder;
  files: Pick<WholeFiles, "refusalByHead">;
  /** Called when a file has come as a whole. */
  onWhole(): void;
}

/**
 * Takes the bytes of one request, from the offset that it names on. Returns the offset after them,
 * which is durable. Throws `conflict` for another offset than that of the newest durable byte,
 * `upload_held` while another request brings bytes, `checksum_mismatch`, `payload_too_large` beyond
 * the file's size, and what a file is refused by for its first bytes; what came of a body that
 * breaks off is kept.
 */
export async function receiveBytes(
  { uploads, folder, files, onWhole }: ReceivingOptions,
  upload: FileUpload,
  { headers, receive }: Pick<Request, "headers" | "receive">,
): Promise<number> {
  if (receive === undefined) throw new Error("The route takes no bytes.");
  const offset = readOffset(headers);
  const checksum = readChecksum(headers);
  if (offset !== upload.received) throw wrongOffset(upload);
  assertFits(upload, headers);
  if (upload.received === upload.size) return offset;
  if (upload.state !== "receiving") throw new AppError("conflict", "The file has failed.");
  const holder = await uploads.hold(upload.id, offset);
  if (holder === undefined) throw held();
  let isWhole = false;
  const keeping = setInterval(
    () => void uploads.keep(upload.id, holder).catch(() => {}),
    RETENTION_MS,
  );
  try {
    const file = await IncomingFile.open({
      ...{ path: folder.pathOf(upload), offset, checksum },
      async onDurable(received) {
        if (!(await uploads.progress(upload, holder, received))) throw held();
      },
    });
    const received = await takeAll(file, receive, {
      most: upload.size - offset,
      refuse: offset === 0 ? (head) => files.refusalByHead(head, upload.mediaType) : undefined,
    });
    isWhole = received === upload.size;
    return received;
  } catch (error) {
    if (isRefusal(error)) {
      await uploads.failed(upload.id, error);
      await folder.remove(upload);
    }
    throw error;
  } finally {
    clearInterval(keeping);
    await uploads.release(upload.id, holder);
    if (isWhole) onWhole();
  }
}

class Refusal extends AppError {}

function isRefusal(error: unknown): error is Refusal {
  return error instanceof Refusal;
}

interface Taking {
  most: number;
  /** Why the file is refused by its first bytes, if it is. */
  refuse: ((head: Uint8Array) => AppError | undefined) | undefined;
}

async function takeAll(
  file: IncomingFile,
  receive: NonNullable<Request["receive"]>,
  { most, refuse }: Taking,
): Promise<number> {
  const sink = refuse === undefined ? file : checked(file, refuse);
  try {
    return await receive(sink, most, () => file.finish(true));
  } catch (error) {
    // What came is kept, whatever ended it.
    await file.finish(false).catch(() => {});
    throw error;
  } finally {
    await file.close();
  }
}

/** The file, behind a look at its first bytes. */
function checked(file: IncomingFile, refuse: NonNullable<Taking["refuse"]>): ByteSink {
  const head: Buffer[] = [];
  let bytes = 0;
  return {
    write(chunk) {
      if (bytes < HEAD_BYTES) {
        bytes += chunk.byteLength;
        head.push(chunk);
        const refusal = bytes < HEAD_BYTES ? undefined : refuse(Buffer.concat(head));
        if (refusal !== undefined) file.fail(new Refusal(refusal.code, refusal.message));
      }
      return file.write(chunk);
    },
    get onDrain() {
      return file.onDrain;
    },
    set onDrain(drained) {
      file.onDrain = drained;
    },
    failed: file.failed,
  };
}

/** Refuses, before any of it is taken, a body that says itself that it goes beyond the file's end. */
function assertFits({ size, received }: FileUpload, headers: Request["headers"]): void {
  const rest = size - received;
  if (Number(headers["content-length"] ?? 0) <= rest) return;
  const message = `The file has ${size} bytes, of which ${received} have come: ${rest} may follow.`;
  throw new AppError("payload_too_large", message);
}

function wrongOffset({ received }: FileUpload): AppError {
  const message = `The file goes on at \`Upload-Offset\` ${received}. Ask with HEAD where it goes on.`;
  return new AppError("conflict", message);
}

function held(): AppError {
  const message = "Another request brings bytes of this file just now. Please try again.";
  return new AppError("upload_held", message, { retryAfter: 5 });
}
