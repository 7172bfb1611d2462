import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";

const MOTO = "moto[server]==5.2.5";
const INSTALL_MS = 600_000;

/** An S3 server that others wrote, in Python, from the package index. */
export class MotoServer {
  readonly endpoint: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(folder: string, process: ChildProcess, port: number) {
    this.#folder = folder;
    this.#process = process;
    this.endpoint = `http://127.0.0.1:${port}`;
  }

  /** A text says why that cannot be tried here: no Python, or no package index. */
  static async start(): Promise<MotoServer | string> {
    const folder = mkdtempSync(join(tmpdir(), "moto-"));
    const options = { encoding: "utf8", timeout: INSTALL_MS } as const;
    if (spawnSync("python3", ["-m", "venv", folder], options).status !== 0) {
      rmSync(folder, { recursive: true, force: true });
      return "there is no python3 that makes environments (venv)";
    }
    const pip = spawnSync(join(folder, "bin/pip"), ["install", "--quiet", MOTO], options);
    if (pip.status !== 0) {
      rmSync(folder, { recursive: true, force: true });
      return `pip reaches no index: ${pip.stderr.trim().split("\n").at(-1) ?? ""}`;
    }
    const port = await freePort();
    const flags = ["-H", "127.0.0.1", "-p", String(port)];
    const process = spawn(join(folder, "bin/moto_server"), flags, { stdio: "ignore" });
    const server = new MotoServer(folder, process, port);
    await until(
      () =>
        fetch(server.endpoint).then(
          () => true,
          () => false,
        ),
      "the S3 server to answer",
    );
    return server;
  }

  stop(): void {
    this.#process.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
  const { port } = probe.address() as AddressInfo;
  await new Promise((done) => probe.close(done));
  return port;
}
