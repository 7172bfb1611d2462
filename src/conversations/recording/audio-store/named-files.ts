import { link, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, systemFault } from "../../../base/errors.ts";
import { newId } from "../../../base/ids.ts";
import type { NamedTexts } from "./audio-store.ts";

/** Texts as files of a local folder. */
export class NamedFiles implements NamedTexts {
  readonly address: string;
  readonly #temporaryFolder: string;

  /** @param temporaryFolder on the same file system; what lies there for an hour is removed by others */
  constructor(folder: string, temporaryFolder: string) {
    this.address = folder;
    this.#temporaryFolder = temporaryFolder;
  }

  async start(): Promise<void> {
    await mkdir(this.address, { recursive: true, mode: 0o700 });
  }

  list(): Promise<string[]> {
    return readdir(this.address);
  }

  async has(name: string): Promise<boolean> {
    try {
      await stat(join(this.address, name));
      return true;
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
      return false;
    }
  }

  async read(name: string, most: number): Promise<string | undefined> {
    const path = join(this.address, name);
    try {
      if ((await stat(path)).size > most) return "too long";
      return await readFile(path, "utf8");
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
      return undefined;
    }
  }

  async writeOnce(name: string, text: string): Promise<boolean> {
    const temporary = join(this.#temporaryFolder, newId());
    try {
      await writeDurably(temporary, text);
      await link(temporary, join(this.address, name));
      await syncFolder(this.address);
      return true;
    } catch (error) {
      if (errnoOf(error) === "EEXIST") return false;
      throw systemFault(error, true) ?? error;
    } finally {
      // What cannot be removed now is left to the next start.
      await rm(temporary, { force: true }).catch(() => {});
    }
  }

  async remove(name: string): Promise<void> {
    try {
      await rm(join(this.address, name), { force: true });
      await syncFolder(this.address);
    } catch (error) {
      throw systemFault(error, true) ?? error;
    }
  }

  commandToWrite(name: string, text: string): string {
    return `echo ${text} > ${join(this.address, name)}`;
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
