import { execFile } from "node:child_process";
import { request } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { findForeignProgram } from "./native-packages.ts";

const SCRIPT = join(import.meta.dirname, "requests-client.py");
const PIECE = Buffer.alloc(1_000_000);
const run = promisify(execFile);

export interface Told {
  status: number;
  body: Record<string, unknown> | null;
}

/** What Python's `requests` saw; see requests-client.py. */
export async function askPython<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await run(findForeignProgram("python3"), [SCRIPT, ...args], {
    timeout: 120_000,
  });
  return JSON.parse(stdout) as T;
}

/** Posts zeros as a client that waits for `100 Continue` before it sends its body. */
export function postAfterContinue(
  url: string,
  headers: Record<string, string>,
  bytes: number,
): Promise<Told & { continued: boolean }> {
  return new Promise((resolve, reject) => {
    let continued = false;
    const all = { ...headers, "content-length": String(bytes), expect: "100-continue" };
    const sent = request(url, { method: "POST", headers: all }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("error", reject);
      answer.on("end", () => {
        const body = JSON.parse(Buffer.concat(parts).toString());
        resolve({ status: answer.statusCode ?? 0, body, continued });
      });
    });
    sent.on("error", reject);
    let left = bytes;
    const write = (): void => {
      while (left > 0) {
        const piece = PIECE.subarray(0, left);
        left -= piece.length;
        if (!sent.write(piece)) return;
      }
      sent.end();
    };
    sent.on("drain", write);
    sent.on("continue", () => {
      continued = true;
      write();
    });
    sent.flushHeaders();
  });
}
