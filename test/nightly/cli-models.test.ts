import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
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
  let content: Buffer;
  /** What the server answers instead; 0: nothing at all. */
  let status: number | undefined;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "voice-models-"));
    ranges = [];
    breakAt = undefined;
    content = CONTENT;
    server = createServer((request, response) => {
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1] ?? 0);
      ranges.push(from);
      if (status === 0) return;
      if (status !== undefined) {
        response.writeHead(status).end();
        return;
      }
      response.writeHead(from > 0 ? 206 : 200, { "content-length": content.length - from });
      if (breakAt === undefined) response.end(content.subarray(from));
      else response.write(content.subarray(from, breakAt), () => response.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    manifest();
    settings = { VOICE_MODEL_MANIFEST: join(folder, "models.json") };
    status = undefined;
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  function manifest(change: object = {}, more: object = {}): void {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/model.onnx`;
    const file = { path: "model.onnx", url, bytes: CONTENT.length, sha256: HASH, ...change };
    const licence = { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" };
    const model = { id: "small", title: "A small model", licence, files: [file], ...more };
    writeFileSync(join(folder, "models.json"), JSON.stringify({ models: [model] }));
  }

  let settings: Record<string, string>;
  async function models(...args: string[]) {
    const env = { PATH: process.env.PATH, ...settings };
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
    expect((await models("pull", "small", "--yes")).output).toMatch(
      /larger than the 1000 bytes of the manifest: is the source/,
    );
    expect((await models("list")).output).not.toMatch(/small +here/);
  });

  it("takes a publisher's archive, unpacks what the manifest tells, and goes on where it stopped", async () => {
    const archive = readFileSync(join(import.meta.dirname, "../fixtures/archives/good.tar.bz2"));
    const sha = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
    const encoder = Buffer.from("sound and words ".repeat(200));
    content = archive;
    manifest(
      { path: "net/encoder.onnx", bytes: encoder.length, sha256: sha(encoder), url: undefined },
      {
        archive: {
          url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/small.tar.bz2`,
          root: "small-model",
          bytes: archive.length,
          sha256: sha(archive),
        },
      },
    );
    breakAt = 100;
    const { status, output } = await models("pull", "small", "--yes");
    expect([status, output]).toEqual([1, expect.stringMatching(/goes on where it stopped/)]);
    breakAt = undefined;
    expect(await models("pull", "small", "--yes")).toMatchObject({ status: 0 });
    expect(ranges.at(-1)).toBe(100);
    expect(readdirSync(join(folder, "here", "small"), { recursive: true }).sort()).toEqual([
      "net",
      "net/encoder.onnx",
    ]);
    expect((await models("list")).output).toMatch(/small +here/);
    const asked = ranges.length;
    expect((await models("pull", "small", "--yes")).output).toMatch(
      /net\/encoder\.onnx: was there/,
    );
    expect(ranges).toHaveLength(asked);
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

  it("shows the catalogue that ships, and checks the shipped model in it", async () => {
    settings = {};
    const { output } = await models("list");
    expect(output).toMatch(/moonshine-tiny-en +shipped +43\.9 MB, MIT, en\n/);
    expect(output).toMatch(
      /parakeet-tdt-0\.6b-v3 +not here +670\.5 MB, CC-BY-4\.0, bg .*, untried/,
    );
    const verified = await models("verify");
    expect([verified.status, verified.output.match(/✓ moonshine-tiny-en/g)?.length]).toEqual([
      0, 3,
    ]);
    expect(await models("rm", "moonshine-tiny-en")).toMatchObject({ status: 1 });
    expect((await models("--help")).output).toMatch(/parakeet-tdt-0\.6b-v3 is untried/);
  });

  it("takes files from VOICE_MODELS_MIRROR, and says which one a mirror lacks", async () => {
    settings.VOICE_MODELS_MIRROR = join(folder, "usb");
    const lacking = await models("pull", "small", "--yes");
    expect(lacking).toMatchObject({ status: 1 });
    expect(lacking.output).toMatch(/the mirror has no file .*usb\/small\/model\.onnx/);
    status = 404;
    settings.VOICE_MODELS_MIRROR = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const absent = await models("pull", "small", "--yes");
    expect(absent.output).toMatch(/small\/model\.onnx does not exist: put the file there/);
    expect([absent.status, ranges.length]).toEqual([1, 1]);
  });

  it("gives up a server that does not answer or cannot be reached", async () => {
    status = 0;
    const silent = await models("pull", "small", "--yes");
    expect([silent.status, ranges.length]).toEqual([1, 3]);
    expect(silent.output).toMatch(/does not answer within 5 s.*VOICE_MODELS_MIRROR/);
    const from = ["--from", "http://127.0.0.1:1"];
    const refused = await models("pull", "small", "--yes", ...from);
    expect(refused).toMatchObject({ status: 1 });
    expect(refused.output).toMatch(/could not be fetched: .*VOICE_MODELS_MIRROR/);
  });

  it("lets one process at a time change a model, and outlives one that was killed", async () => {
    mkdirSync(join(folder, "here"));
    const lock = join(folder, "here", ".small.lock");
    const held = (pid: number) => JSON.stringify({ host: hostname(), pid, nonce: "" });
    writeFileSync(lock, held(process.pid));
    const second = await models("pull", "small", "--yes");
    expect([second.status, ranges.length]).toEqual([1, 0]);
    expect(second.output).toMatch(/Another process is changing small/);
    const ended = spawn("true");
    await once(ended, "close");
    writeFileSync(lock, held(ended.pid ?? 0));
    expect(await models("pull", "small", "--yes")).toMatchObject({ status: 0 });
    expect(existsSync(lock)).toBe(false);
  });

  it("says that the disk is full, and what to do", async () => {
    mkdirSync(join(folder, "here", "small"), { recursive: true });
    symlinkSync("/dev/full", `${path()}.part`);
    const { status: exit, output } = await models("pull", "small", "--yes");
    expect(exit).toBe(1);
    expect(output).toMatch(
      /the disk is full. Make room, or name another folder in VOICE_MODEL_DIR/,
    );
  });
});
