import { randomBytes } from "node:crypto";
import { chown, link, open, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Writes a file that only its owner can read, unless it is there; readers never
 * see half of it. Root writes it for the owner of the folder. True when it was
 * written now.
 */
export async function createOnce(path: string, content: string): Promise<boolean> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
    if (process.getuid?.() === 0) {
      const { uid, gid } = await stat(dirname(path));
      await chown(temporary, uid, gid);
    }
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
}
