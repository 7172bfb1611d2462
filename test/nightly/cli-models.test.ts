import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const MAIN = join(import.meta.dirname, "../../src/cli/main.ts");
const CONTENT = Buffer.alloc(300_000, "sound and words ");
const HASH = createHash("sha256").update(CONTENT).digest("hex");

describe("cli: models", { timeout: 60_000 }, () => {
  let folder: string;
  let server: Server;
  /** Bytes from which each request was answered, and where answers break off. */
  let ranges: number[];
  let breakAt: number | undefined;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "voice-models-"));
    ranges = [];
    breakAt = undefined;
    server = createServer((request, response) => {
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
      ranges.push(from);
      response.writeHead(from > 0 ? 206 : 200, { "content-length": CONTENT.length - from });
      if (breakAt === undefined) response.end(CONTENT.subarray(from));
      else response.write(CONTENT.subarray(from, breakAt), () => response.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    manifest();
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  function manifest(change: object = {}): void {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/model.onnx`;
    const file = { path: "model.onnx", url, bytes: CONTENT.length, sha256: HASH, ...change };
    const licence = { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" };
    const model = { id: "small", title: "A small model", licence, files: [file] };
    writeFileSync(join(folder, "models.json"), JSON.stringify({ models: [model] }));
  }

  async function models(...args: string[]) {
    const env = { PATH: process.env.PATH, VOICE_MODEL_MANIFEST: join(folder, "models.json") };
    const own = [MAIN, "models", ...args, "--folder", join(folder, "here")];
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...own], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text) => {
        output += text;
      });
    }
    const [status] = await once(child, "close");
    return { status, output };
  }

  const path = () => join(folder, "here", "small", "model.onnx");

  it("shows the licence, and fetches nothing before it is taken", async () => {
    const { status, output } = await models("pull", "small");
    expect(status).toBe(1);
    expect(output).toMatch(/licence Apache-2\.0 \(https:.*--yes/s);
    expect(ranges).toEqual([]);
    expect((await models("list")).output).toMatch(/small +not here +300 kB, Apache-2\.0/);
  });

  it("fetches a model, once, and checks and removes it", async () => {
    expect(await models("pull", "small", "--yes")).toMatchObject({ status: 0 });
    expect(readFileSync(path())).toEqual(CONTENT);
    expect((await models("list")).output).toMatch(/small +here/);
    expect((await models("pull", "small", "--yes")).output).toMatch(/model\.onnx: was there/);
    expect(ranges).toEqual([0]);
    expect(await models("verify")).toMatchObject({ status: 0 });
    writeFileSync(path(), Buffer.alloc(CONTENT.length));
    const { status, output } = await models("verify", "small");
    expect([status, output]).toEqual([1, expect.stringMatching(/small\/model\.onnx: other/)]);
    await models("rm", "small");
    expect((await models("list")).output).toMatch(/not here/);
  });

  it("goes on where it stopped", async () => {
    mkdirSync(join(folder, "here", "small"), { recursive: true });
    writeFileSync(`${path()}.part`, CONTENT.subarray(0, 100_000));
    expect((await models("list")).output).toMatch(/small +begun/);
    expect(await models("pull", "small", "--yes")).toMatchObject({ status: 0 });
    expect(ranges).toEqual([100_000]);
    expect(readFileSync(path())).toEqual(CONTENT);
  });

  it("tries again, with a limit, where the connection breaks off", async () => {
    breakAt = 200_000;
    const { status, output } = await models("pull", "small", "--yes");
    expect([status, ranges.length]).toEqual([1, 3]);
    expect(output).toMatch(/could not be fetched.*goes on where it stopped/);
  });

  it("keeps no file with another checksum, and none that is larger than told", async () => {
    manifest({ sha256: HASH.replaceAll(/./g, "0") });
    expect((await models("pull", "small", "--yes")).output).toMatch(/was deleted/);
    manifest({ bytes: 1_000 });
    expect((await models("pull", "small", "--yes")).output).toMatch(/larger than the manifest/);
    expect((await models("list")).output).not.toMatch(/small +here/);
  });

  it("takes files from a folder, or from a mirror", async () => {
    mkdirSync(join(folder, "usb", "small"), { recursive: true });
    writeFileSync(join(folder, "usb", "small", "model.onnx"), CONTENT);
    const from = ["--from", join(folder, "usb")];
    expect(await models("pull", "small", "--yes", ...from)).toMatchObject({ status: 0 });
    expect(ranges).toEqual([]);
    await models("rm", "small");
    const mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mirror`;
    expect(await models("pull", "small", "--yes", "--from", mirror)).toMatchObject({ status: 0 });
  });

  it("says what is wrong with a manifest, and leads out of no folder", async () => {
    manifest({ path: "../../etc/passwd" });
    const { status, output } = await models("list");
    expect([status, output]).toEqual([1, expect.stringMatching(/wrong at \/models\/0\/files\/0/)]);
    expect((await models("pull", "other", "--yes", "--manifest", "/none")).output).toMatch(
      /manifest \/none cannot be read/,
    );
  });
});
