import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { runStep, type Screen } from "../setup/screen.mjs";
import { StepError } from "../setup/step-error.mjs";
import { DataFolder } from "../supervisor/data-folder.ts";
import { folderIdentity } from "../supervisor/folder-place.ts";
import { findLeftovers, stopLeftovers } from "../supervisor/leftovers.ts";
import { DATABASE, OWNER_ROLE, postgresUrl } from "../supervisor/postgres/roles.ts";
import { isRunning } from "../supervisor/process-identity.ts";
import { type RunRecordContent, readRunRecord } from "../supervisor/run-record.ts";
import { startDatabase } from "./private-database.ts";
import { withRecord } from "./record-dump.ts";

/** What is to be backed up. */
export interface Installation {
  /** The data folder. */
  readonly data: string;
  readonly audio: string;
  /** Undefined where the keys come from a setting. */
  readonly keys: string | undefined;
  /** Id of its audio folder, which the record knows. */
  readonly store: string;
  /** Where its record is reached. */
  readonly url: string;
  /** Whether its service writes meanwhile. */
  readonly isServed: boolean;
  close(): Promise<void>;
}

interface Place {
  readonly project: string;
  readonly data: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly screen: Screen;
}

/** The installation of a data folder; where its service stands still its PostgreSQL is started. */
export async function openInstallation(place: Place): Promise<Installation> {
  const { data: given, env } = place;
  if (env.AUDIO_STORE?.startsWith("s3:")) {
    throw new StepError(
      "the sound of this installation is in a bucket (AUDIO_STORE), which this backup does not copy",
      "back up database and bucket as deploy/upkeep.md says under Several machines",
    );
  }
  if (!existsSync(join(given, ".voice-data.json"))) {
    throw new StepError(
      `${given} is not a data folder of this service`,
      "name it with --data DIR, or VOICE_DATA",
    );
  }
  const data = realpathSync(given);
  const audio = env.VOICE_BLOB_DIR || join(data, "blobs");
  const keys = env.VOICE_KEYS ? undefined : env.VOICE_KEY_DIR || join(data, "keys");
  const record = await openRecord({ ...place, data });
  try {
    const store = await checkStore(record.url, audio);
    return { data, audio, keys, store, ...record };
  } catch (error) {
    await record.close();
    throw error;
  }
}

type Reached = Pick<Installation, "url" | "isServed" | "close">;

async function openRecord(place: Place): Promise<Reached> {
  const { data, env } = place;
  const own = env.DATABASE_OWNER_URL || env.DATABASE_URL;
  if (env.DATABASE_URL && own) return { url: own, isServed: true, close: async () => undefined };
  const run = readRunRecord(join(data, "run.json"));
  const isOurs = run?.folder !== undefined && run.folder === folderIdentity(data);
  if (run === undefined || !isOurs) return startOwn(place);
  // It serves on also when its supervisor was killed.
  const url = runningDatabase(data, run);
  if (url !== undefined) return { url, isServed: true, close: async () => undefined };
  if (!isRunning(run.supervisor)) return startOwn(place);
  throw new StepError(
    `the database of ${data} cannot be used just now: its service starts or stops, or another backup has it`,
    "do it again in a minute",
  );
}

function runningDatabase(data: string, { parts }: RunRecordContent): string | undefined {
  const { postgres } = parts;
  if (postgres === undefined || !isRunning(postgres)) return undefined;
  const port = Number(readField(join(data, "ports.json"), "postgres"));
  const password = readField(join(data, "secrets.json"), "ownerPassword");
  if (!port || typeof password !== "string") return undefined;
  return postgresUrl(OWNER_ROLE, password, port, DATABASE);
}

function readField(file: string, name: string): unknown {
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>)[name];
  } catch (cause) {
    throw new StepError(
      `${file} cannot be read (${(cause as Error).message})`,
      "do it as the user who starts the service",
    );
  }
}

async function startOwn({ project, data: path, env, signal, screen }: Place): Promise<Reached> {
  const data = await DataFolder.open(path);
  try {
    // Of a backup, or of a service, that was killed.
    const left = await stopLeftovers(findLeftovers(data.file("run.json"), data.owner));
    if (left.length > 0) {
      const pids = left.map(({ pid }) => pid).join(" ");
      throw new StepError(`processes of an earlier run do not end: ${pids}`, `kill -9 ${pids}`);
    }
    const database = await runStep(screen, "PostgreSQL (the service stands still)", (step) =>
      startDatabase({ project, data, env, signal, step }),
    );
    const close = async () => {
      await database.stop();
      data.release();
    };
    return { url: database.ownerUrl, isServed: false, close };
  } catch (error) {
    data.release();
    throw error;
  }
}

/** The audio folder has to be this record's: another one would lack everything. */
async function checkStore(url: string, audio: string): Promise<string> {
  const claimed = await withRecord(url, async (client) => {
    const { rows: known } = await client.query<{ there: boolean }>(
      "select to_regclass('public.audio_folder') is not null as there",
    );
    if (!known[0]?.there) return undefined;
    const { rows } = await client.query<{ id: string }>("select id from audio_folder");
    return rows[0]?.id;
  });
  const here = readMark(join(audio, "store-id"));
  if (claimed !== undefined && here === claimed) return claimed;
  if (claimed === undefined) {
    throw new StepError(
      "this database has never kept sound: there is nothing to back up",
      "start the service once, or correct --data and DATABASE_URL",
    );
  }
  throw new StepError(
    `${audio} does not hold the sound of this database`,
    "name its folder in VOICE_BLOB_DIR, as the service has it",
  );
}

function readMark(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}
