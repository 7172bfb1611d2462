import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { synchronous } from "../../support/python-sync.ts";
import { pythonTypesText } from "../../support/python-types.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const CLIENTS = join(PROJECT, "deploy/clients");
const PYTHON = join(CLIENTS, "python/src/voice_session_client");
const LIVEKIT = join(CLIENTS, "livekit");
const read = (...path: string[]) => readFileSync(join(...path), "utf8");

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
}

describe("client packages", () => {
  const service = JSON.parse(read(PROJECT, "package.json")) as Manifest;
  const typescript = JSON.parse(read(CLIENTS, "typescript/package.json")) as Manifest;

  it("packages: have the version of the service, and what it is tested with", () => {
    const project = /^version = "(.+)"$/m.exec(read(CLIENTS, "python/pyproject.toml"))?.[1];
    const module = /^__version__ = "(.+)"$/m.exec(read(PYTHON, "__init__.py"))?.[1];
    const plugin = read(LIVEKIT, "pyproject.toml");
    const pluginModule = read(LIVEKIT, "livekit/plugins/voice_session/version.py");
    const versions = [
      ...[typescript.version, project, module],
      /^version = "(.+)"$/m.exec(plugin)?.[1],
      /"voice-session-client==(.+?)"/.exec(plugin)?.[1],
      /^__version__ = "(.+)"$/m.exec(pluginModule)?.[1],
    ];
    expect(versions).toEqual(versions.map(() => service.version));
    for (const [name, version] of Object.entries(typescript.dependencies)) {
      expect(service.dependencies[name], name).toBe(version);
    }
  });

  it("packages: read me at a glance", () => {
    for (const name of ["typescript", "python", "livekit"]) {
      expect(read(CLIENTS, name, "README.md").split("\n").length - 1).toBeLessThanOrEqual(60);
    }
  });

  it("packages: Python has the shapes of the service's documents", async () => {
    expect(read(PYTHON, "types.py"), "run `npm run client:python`").toBe(await pythonTypesText());
  });

  it("packages: Python does the same with and without asyncio", () => {
    const modules = (folder: string) =>
      readdirSync(join(PYTHON, folder)).filter((name) => name.endsWith(".py"));
    expect(modules("_sync")).toEqual(modules("_async"));
    for (const name of modules("_async").filter((each) => each !== "runtime.py")) {
      const made = synchronous(read(PYTHON, "_async", name));
      expect(read(PYTHON, "_sync", name), "run `npm run client:python`").toBe(made);
    }
  });
});
