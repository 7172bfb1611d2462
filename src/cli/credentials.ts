import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { CommandFailure, reasonOf } from "./command-failure.ts";

/** What `voice login` remembers about one service. */
export interface StoredLogin {
  email: string;
  token: string;
  refresh_token?: string;
}

interface StoredFile {
  /** The address used when none is given. */
  current?: string;
  servers: Record<string, StoredLogin>;
}

/** The logins of this user, in a file that only they can read. */
export class Credentials {
  readonly file: string;

  constructor(env: NodeJS.ProcessEnv) {
    const folder = env.XDG_CONFIG_HOME || join(homedir(), ".config");
    this.file = join(folder, "voice", "credentials.json");
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
    this.#write({ current: baseUrl, servers: { ...servers, [baseUrl]: login } });
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

  /** Replaces the file in one step, so that a crash leaves the old or the new one. */
  #write(content: StoredFile): void {
    const draft = `${this.file}.${process.pid}`;
    try {
      mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
      writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
      chmodSync(draft, 0o600);
      renameSync(draft, this.file);
    } catch (error) {
      throw new CommandFailure(`cannot write ${this.file}: ${reasonOf(error)}`, error);
    }
  }
}
