import type { Step } from "../setup/screen.mjs";
import type { DataFolder } from "../supervisor/data-folder.ts";
import { EmbeddedDatabase } from "../supervisor/database.ts";
import { Environments } from "../supervisor/environment.ts";
import { findFreePort } from "../supervisor/ports.ts";
import { DATABASE, postgresUrl } from "../supervisor/postgres/roles.ts";
import { RunRecord } from "../supervisor/run-record.ts";
import { loadSecrets } from "../supervisor/secrets.ts";
import { SupervisedPart } from "../supervisor/supervised-part.ts";

/** The PostgreSQL of a data folder, started for one program alone. */
export interface PrivateDatabase {
  readonly ownerUrl: string;
  /** As the superuser. */
  readonly adminUrl: string;
  stop(): Promise<void>;
}

interface PrivateStart {
  readonly project: string;
  /** Taken: no service runs on it. */
  readonly data: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly step: Step;
}

/** Starts it, and makes it where there is none. Throws a StepError. */
export async function startDatabase(start: PrivateStart): Promise<PrivateDatabase> {
  const { project, data, env, signal, step } = start;
  const secrets = loadSecrets(data.file("secrets.json"));
  const port = await findFreePort();
  const database = await EmbeddedDatabase.prepare({
    ...{ project, data, port, secrets, signal, step },
    env: new Environments(env, data).server(),
    tell: () => undefined,
  });
  // What is left of it after a kill -9 is found by the next start; nobody takes it for the service's.
  const record = new RunRecord(data.file("run.json"), data.place.folder);
  const part = new SupervisedPart(database.part, {
    spawned: (name, pid) => record.started(`${name} alone`, pid),
    ended: (name) => record.ended(`${name} alone`),
    died: () => undefined,
    recovered: () => undefined,
    logged: () => undefined,
  });
  const stop = async () => {
    await part.stop();
    part.close();
    record.remove();
  };
  try {
    await part.start();
    await database.ensureDatabase();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    ownerUrl: database.ownerUrl,
    adminUrl: postgresUrl("postgres", secrets.postgresPassword, port, DATABASE),
    stop,
  };
}
