import { chmodSync } from "node:fs";
import type { Step } from "../setup/screen.mjs";
import type { DataFolder } from "./data-folder.ts";
import type { Part } from "./part.ts";
import { createCluster } from "./postgres/cluster.ts";
import { checkExistingCluster } from "./postgres/existing-cluster.ts";
import { placeCluster } from "./postgres/place.ts";
import { postgresPart } from "./postgres/postgres-part.ts";
import {
  createDatabase,
  DATABASE,
  databaseExists,
  ensureRoles,
  OWNER_ROLE,
  postgresUrl,
  prepareSchema,
  SERVICE_ROLE,
} from "./postgres/roles.ts";
import type { Secrets } from "./secrets.ts";

/** The embedded PostgreSQL of a data folder. */
export class EmbeddedDatabase {
  readonly part: Part;
  readonly url: string;
  readonly ownerUrl: string;
  readonly #adminUrl: string;
  readonly #adminDatabaseUrl: string;
  readonly #secrets: Secrets;

  private constructor(part: Part, port: number, secrets: Secrets) {
    this.part = part;
    this.#secrets = secrets;
    this.url = postgresUrl(SERVICE_ROLE, secrets.servicePassword, port, DATABASE);
    this.ownerUrl = postgresUrl(OWNER_ROLE, secrets.ownerPassword, port, DATABASE);
    this.#adminUrl = postgresUrl("postgres", secrets.postgresPassword, port, "postgres");
    this.#adminDatabaseUrl = postgresUrl("postgres", secrets.postgresPassword, port, DATABASE);
  }

  /** Makes the cluster when it is not there; `tell` gets a sentence when it lies elsewhere. */
  static async prepare(options: {
    project: string;
    data: DataFolder;
    port: number;
    secrets: Secrets;
    env: NodeJS.ProcessEnv;
    signal: AbortSignal;
    step: Step;
    tell: (sentence: string) => void;
  }): Promise<EmbeddedDatabase> {
    const { project, data, port, secrets, env, signal, step, tell } = options;
    if (process.getuid?.() === 0) chmodSync(data.path, 0o711);
    const cluster = placeCluster(project, data);
    if (cluster.moved) {
      tell(
        `PostgreSQL runs as user ${cluster.user?.uid}: its data is not in the data folder but in ${cluster.folder}`,
      );
    }
    checkExistingCluster(cluster);
    step.note("making the data folder");
    await createCluster(cluster, secrets.postgresPassword, signal);
    step.note("starting");
    const part = postgresPart({
      cluster,
      port,
      adminUrl: postgresUrl("postgres", secrets.postgresPassword, port, "postgres"),
      logFile: data.file("logs", "postgres.log"),
      env,
      durable: true,
    });
    return new EmbeddedDatabase(part, port, secrets);
  }

  /** Roles and the database, once the server is up. */
  async ensureDatabase(): Promise<void> {
    await ensureRoles(this.#adminUrl, {
      owner: this.#secrets.ownerPassword,
      service: this.#secrets.servicePassword,
    });
    if (!(await databaseExists(this.#adminUrl, DATABASE))) {
      await createDatabase(this.#adminUrl, DATABASE);
    }
    await prepareSchema(this.#adminDatabaseUrl);
  }
}
