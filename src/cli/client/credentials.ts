import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { reasonOf } from "../../client/errors.ts";
import { CommandFailure } from "./command-context.ts";

/** The login at one service, as `voice login` stores it. */
export interface StoredLogin {
  email: string;
  token: string;
  refresh_token?: string;
}

interface StoredFile {
  /** The base URL that is used when none is given. */
  current?: string;
  servers: Record<string, StoredLogin>;
}

/** The user's logins, in a file that only the user can read. */
export class Credentials {
  readonly file: string;

  constructor(env: NodeJS.ProcessEnv) {
    this.file = join(configFolder(env), "credentials.json");
  }

  get currentBaseUrl(): string | undefined {
    return this.#read().current;
  }

  find(baseUrl: string): StoredLogin | undefined {
    return this.#read().servers[baseUrl];
  }

  /** Stores a login and makes its service the current one. */
  save(baseUrl: string, login: StoredLogin): void {
    const { servers } = this.#read();
    const content: StoredFile = { current: baseUrl, servers: { ...servers, [baseUrl]: login } };
    writePrivately(this.file, content);
  }

  #read(): StoredFile {
    try {
      const content: unknown = JSON.parse(readFileSync(this.file, "utf8"));
      if (typeof content === "object" && content !== null && "servers" in content) {
        return content as StoredFile;
      }
      throw new Error("it holds something else");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") {
        return { servers: {} };
      }
      throw new CommandFailure(`cannot use ${this.file} (${reasonOf(error)}); remove it`, error);
    }
  }
}

/** The folder of the command's files for this user. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME || join(homedir(), ".config"), "voice");
}

/**
 * Writes a file that only this user can read. It is replaced in one step, so that after a crash it
 * has either the old or the new content.
 */
export function writePrivately(file: string, content: object): void {
  const draft = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, file);
  } catch (error) {
    throw new CommandFailure(`cannot write ${file}: ${reasonOf(error)}`, error);
  }
}
