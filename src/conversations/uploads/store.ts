import { type CommonQueryMethods, type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { AppError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { Ceilings } from "../../postgres/ceilings.ts";
import { optionalColumn } from "../../postgres/optional-column.ts";
import { highestSequence } from "../recording/stream-store.ts";

export const UPLOAD_STATES = ["receiving", "received", "storing", "stored", "failed"] as const;

/** Since its last byte an unfinished file is kept so long, hours; a finished one's record too. */
export const RETENTION_HOURS = 24;
/**
 * A holder that says nothing for so long has gone, seconds: less than the clients of tus go on
 * trying. It says something every `RETENTION_MS`.
 */
const HELD_SECONDS = 9;
export const RETENTION_MS = 3_000;

/** A whole file that is being brought to a session. Times are Unix milliseconds, sizes bytes. */
export interface FileUpload {
  id: string;
  sessionId: string;
  accountId: string;
  filename: string;
  mediaType: string;
  size: number;
  received: number;
  isLast: boolean;
  state: (typeof UPLOAD_STATES)[number];
  failureCode?: string;
  failure?: string;
  /** Number of its first chunk, once it is being stored. */
  firstSequence?: number;
  createdAt: number;
  expiresAt: number;
}

interface NewUpload
  extends Pick<
    FileUpload,
    "id" | "sessionId" | "accountId" | "filename" | "mediaType" | "size" | "isLast"
  > {
  workspaceId: string;
  uploaderId: string;
  /** Of a file that came in one request, hex; it is there as a whole. */
  sha256?: string;
}

export type ExpiredUpload = Pick<FileUpload, "id" | "sessionId">;

const uploadRow = z.object({
  id: z.string(),
  sessionId: z.string(),
  accountId: z.string(),
  filename: z.string(),
  mediaType: z.string(),
  size: z.number(),
  received: z.number(),
  isLast: z.boolean(),
  state: z.enum(UPLOAD_STATES),
  failureCode: optionalColumn(z.string()),
  failure: optionalColumn(z.string()),
  firstSequence: optionalColumn(z.number()),
  createdAt: z.number(),
  expiresAt: z.number(),
});
const expiredRow = z.object({ id: z.string(), sessionId: z.string() });
const idRow = z.object({ id: z.string() });
const placeRow = z.object({ status: z.string(), deviceId: optionalColumn(z.string()) });
const countRow = z.object({ unfinished: z.number() });

const COLUMNS = sql.fragment`
  u.id, u.session_id as "sessionId", u.account_id as "accountId", u.filename,
  u.media_type as "mediaType", u.size, u.received, u.is_last as "isLast", u.state,
  u.failure_code as "failureCode", u.failure, u.first_sequence as "firstSequence",
  u.created_at as "createdAt", u.expires_at as "expiresAt"`;
const LATER = sql.fragment`now() + make_interval(hours => ${RETENTION_HOURS})`;
const UNTIL = sql.fragment`now() + make_interval(secs => ${HELD_SECONDS})`;
const IS_FREE = sql.fragment`(u.held_until is null or u.held_until < now())`;
/** Unfinished files of one session. */
const MOST_UNFINISHED = 20;

/** Files that are being brought. Every method throws `unavailable` when storage is away. */
export class UploadStore {
  readonly #pool: DatabasePool;
  readonly #ceilings: Pick<Ceilings, "assertStoredBytes">;

  constructor(pool: DatabasePool, ceilings: Pick<Ceilings, "assertStoredBytes">) {
    this.#pool = pool;
    this.#ceilings = ceilings;
  }

  /**
   * Throws `session_ended` for one that does not record any more, `conflict` for one that a device
   * records or that has too many unfinished files, `quota_exceeded`, `not_found`.
   */
  create(upload: NewUpload): Promise<FileUpload> {
    const { id, sessionId, workspaceId, uploaderId, accountId, filename, mediaType } = upload;
    const sha256 = upload.sha256 ?? null;
    return this.#pool.transaction(async (tx) => {
      await holdRecording(tx, sessionId);
      const { unfinished } = await tx.one(sql.type(countRow)`
        select count(*)::int as unfinished from file_uploads
        where session_id = ${sessionId} and state in ('receiving', 'received', 'storing')`);
      if (unfinished >= MOST_UNFINISHED) {
        const message = `The session has ${unfinished} unfinished files. Finish or delete one first.`;
        throw new AppError("conflict", message);
      }
      const row = await tx.one(sql.type(uploadRow)`
        insert into file_uploads as u (id, session_id, workspace_id, uploader_id, account_id,
          filename, media_type, size, is_last, sha256, received, state, expires_at)
        values (${id}, ${sessionId}, ${workspaceId}, ${uploaderId}, ${accountId}, ${filename},
          ${mediaType}, ${upload.size}, ${upload.isLast}, ${sha256}, ${sha256 === null ? 0 : upload.size},
          ${sha256 === null ? "receiving" : "received"}, ${LATER})
        returning ${COLUMNS}`);
      // Comes second, so that its own bytes count.
      await this.#ceilings.assertStoredBytes(tx, workspaceId);
      return row;
    });
  }

  /** The file, for whoever brings it; undefined for anybody else. */
  async find(sessionId: string, id: string, uploaderId: string): Promise<FileUpload | undefined> {
    const row = await this.#pool.maybeOne(sql.type(uploadRow)`
      select ${COLUMNS} from file_uploads u
      where u.id = ${id} and u.session_id = ${sessionId} and u.uploader_id = ${uploaderId}
        and u.expires_at > now()`);
    return row ?? undefined;
  }

  /** The same file, if it came in one request before and was not found to be unreadable. */
  async same(
    sessionId: string,
    uploaderId: string,
    sha256: string,
  ): Promise<FileUpload | undefined> {
    const row = await this.#pool.maybeOne(sql.type(uploadRow)`
      select ${COLUMNS} from file_uploads u
      where u.session_id = ${sessionId} and u.uploader_id = ${uploaderId}
        and u.sha256 = ${sha256} and u.state <> 'failed'
      order by u.id limit 1`);
    return row ?? undefined;
  }

  /** The files of a session, oldest first. */
  async list(sessionId: string): Promise<readonly FileUpload[]> {
    return this.#pool.any(sql.type(uploadRow)`
      select ${COLUMNS} from file_uploads u
      where u.session_id = ${sessionId} and u.expires_at > now() order by u.id`);
  }

  /**
   * Lets one request bring bytes. Returns the holder's name, and undefined while another one brings
   * some, or when the file is not being received at that offset any more.
   */
  async hold(id: string, offset: number): Promise<string | undefined> {
    const holder = newId();
    const row = await this.#pool.maybeOne(sql.type(idRow)`
      update file_uploads u set holder = ${holder}, held_until = ${UNTIL}
      where id = ${id} and state = 'receiving' and received = ${offset} and ${IS_FREE}
      returning id`);
    return row === null ? undefined : holder;
  }

  /**
   * Bytes up to `received` are durable. False when another one holds the file now. With the last one
   * the session has to be recording still, as in `create`: a file that came is stored, even if the
   * session is stopped right after it.
   */
  progress({ id, sessionId, size }: FileUpload, holder: string, received: number) {
    return this.#pool.transaction(async (tx) => {
      const isWhole = received === size;
      if (isWhole) await holdRecording(tx, sessionId);
      const row = await tx.maybeOne(sql.type(idRow)`
        update file_uploads set received = ${received}, held_until = ${UNTIL},
          expires_at = ${LATER}, touched_at = now(),
          state = ${isWhole ? "received" : "receiving"}
        where id = ${id} and holder = ${holder} and state = 'receiving' and received <= ${received}
        returning id`);
      return row !== null;
    });
  }

  async release(id: string, holder: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update file_uploads set holder = null, held_until = null
      where id = ${id} and holder = ${holder}`);
  }

  /**
   * Of files that are whole or half stored, and that nobody works on: the oldest of each account of
   * which none is being stored, so that no account waits for another one's many files.
   */
  async waiting(limit: number, except: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#pool.any(sql.type(idRow)`
      select id from (
        select distinct on (u.account_id) u.id, u.created_at from file_uploads u
        where u.state in ('received', 'storing') and ${IS_FREE}
          and u.id <> all(${sql.array([...except], "uuid")})
          and not exists (
            select from file_uploads o
            where o.id <> u.id and o.state = 'storing'
              and (o.session_id = u.session_id
                or o.account_id = u.account_id and o.held_until >= now()))
        order by u.account_id, u.created_at, u.id) next
      order by created_at, id limit ${limit}`);
    return rows.map(({ id }) => id);
  }

  /**
   * Begins to store a whole file, or goes on where its holder has gone. Undefined when it is not to
   * be stored now; throws `session_ended` and `conflict` like `create`.
   */
  take(id: string): Promise<{ upload: FileUpload; holder: string } | undefined> {
    const holder = newId();
    return this.#pool.transaction(async (tx) => {
      const row = await tx.maybeOne(sql.type(uploadRow)`
        select ${COLUMNS} from file_uploads u
        where u.id = ${id} and u.state in ('received', 'storing') and ${IS_FREE}
        for update skip locked`);
      if (row === null) return undefined;
      // What was begun is finished, also when the session has ended meanwhile.
      if (row.state === "received") await holdRecording(tx, row.sessionId);
      const first = row.firstSequence ?? (await highestSequence(tx, row.sessionId)) + 1;
      const upload = await tx.one(sql.type(uploadRow)`
        update file_uploads u set state = 'storing', holder = ${holder}, held_until = ${UNTIL},
          first_sequence = ${first}
        where id = ${id} returning ${COLUMNS}`);
      return { upload, holder };
    });
  }

  /** Keeps the file for a holder that still brings bytes, or stores it. */
  async keep(id: string, holder: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update file_uploads set held_until = ${UNTIL} where id = ${id} and holder = ${holder}`);
  }

  async stored(id: string): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update file_uploads set state = 'stored', holder = null, held_until = null,
        expires_at = ${LATER}
      where id = ${id} and state = 'storing'`);
  }

  async failed(id: string, { code, message }: AppError): Promise<void> {
    await this.#pool.query(sql.unsafe`
      update file_uploads set state = 'failed', failure_code = ${code}, failure = ${message},
        holder = null, held_until = null, expires_at = ${LATER}
      where id = ${id} and state in ('receiving', 'received', 'storing')`);
  }

  /** True while files of the session besides this one are to come. */
  async isAwaiting(sessionId: string, exceptId: string): Promise<boolean> {
    return this.#pool.exists(sql.type(idRow)`
      select id from file_uploads
      where session_id = ${sessionId} and state in ('receiving', 'received', 'storing')
        and id <> ${exceptId} and expires_at > now()`);
  }

  /** Removes one that is not whole, or has failed. False when it is. */
  async giveUp(id: string): Promise<boolean> {
    const row = await this.#pool.maybeOne(sql.type(idRow)`
      delete from file_uploads where id = ${id} and state in ('receiving', 'failed') returning id`);
    return row !== null;
  }

  async remove(id: string): Promise<void> {
    await this.#pool.query(sql.unsafe`delete from file_uploads where id = ${id}`);
  }

  /** Files whose time is over. */
  async expired(limit: number, except: readonly string[]): Promise<readonly ExpiredUpload[]> {
    return this.#pool.any(sql.type(expiredRow)`
      select u.id, u.session_id as "sessionId" from file_uploads u
      where u.expires_at < now() and ${IS_FREE}
        and u.id <> all(${sql.array([...except], "uuid")})
      order by u.expires_at limit ${limit}`);
  }
}

/** Locks the session's row, so that it does not end meanwhile. */
async function holdRecording(tx: CommonQueryMethods, sessionId: string): Promise<void> {
  const row = await tx.maybeOne(sql.type(placeRow)`
    select status, device_id as "deviceId" from sessions where id = ${sessionId} for update`);
  if (row === null || row.status === "deleted") {
    throw new AppError("not_found", "There is no session with this id.");
  }
  if (row.deviceId !== undefined) {
    throw new AppError("conflict", "A device records this session: its key uploads the audio.");
  }
  if (row.status !== "recording") {
    throw new AppError("session_ended", "The session has ended: begin another one for this file.");
  }
}

/**
 * Whole files that have come and are not chunks yet belong to the recording: it ends with the last
 * of them. False when there is none but `except`.
 */
export async function endWithUploads(
  tx: CommonQueryMethods,
  { sessionId, except }: { sessionId: string; except?: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    update file_uploads set is_last = true
    where session_id = ${sessionId} and state in ('received', 'storing')
      and id is distinct from ${except ?? null}::uuid`);
  return rowCount > 0;
}

/** For whoever deletes a session. */
export async function dropUploads(tx: CommonQueryMethods, { id }: { id: string }): Promise<void> {
  await tx.query(sql.unsafe`delete from file_uploads where session_id = ${id}`);
}
