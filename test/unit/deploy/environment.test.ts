import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DataFolder } from "../../../deploy/supervisor/data-folder.ts";
import { Environments, toldLogin } from "../../../deploy/supervisor/environment.ts";
import { SETTINGS } from "../../../src/base/settings-table.ts";

describe("the login that is shown", () => {
  const admin = { email: "admin@voice.local", password: "made at the first start", given: false };
  const told = (state: string) =>
    toldLogin(admin, `${JSON.stringify({ event: "setup", admin_password: state })}\n`);

  it("password: shown when the set-up says that it works", () => {
    const { email, password } = admin;
    expect(told("works")).toEqual({
      login: { email, password },
      sentence: undefined,
      isKnown: true,
    });
  });

  it.each([
    ["own", "your own password"],
    ["replaced", "the newer password"],
    ["disabled", "disabled"],
    ["elsewhere", "ADMIN_EMAIL=… ADMIN_PASSWORD=… npm run up"],
  ])("password: left out when it is %s, with what to do", (state, words) => {
    const { login, sentence } = told(state);
    expect(login).toEqual({ email: admin.email });
    expect(sentence).toContain(words);
  });
});

describe("the environment of a part", () => {
  const folder = mkdtempSync(join(tmpdir(), "voice-environment-"));
  const at = {
    databaseUrl: "postgres://service",
    databaseOwnerUrl: "postgres://owner",
    natsUrl: "nats://here",
    natsToken: "token",
    workerKey: "key",
  };
  const ports = { port: 1, opsPort: 2, grpcSessionsPort: 3 };
  const everySetting = Object.fromEntries(
    Object.entries(SETTINGS).map(([name, { type }]) => [name, type === "integer" ? "7" : name]),
  );
  let data: DataFolder;
  let environments: Environments;

  beforeAll(async () => {
    data = await DataFolder.open(folder);
    const env = { ...everySetting, PATH: "/bin", LC_ALL: "C", NODE_OPTIONS: "-r x", STRANGE: "1" };
    environments = new Environments(env, data);
  });

  afterAll(() => {
    data.release();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Settings in it, and what it holds besides the marks of its supervisor. */
  function namesIn(env: NodeJS.ProcessEnv): { settings: string[]; others: string[] } {
    const names = Object.keys(env)
      .filter((name) => env[name] !== undefined)
      .filter((name) => !["VOICE_DATA_ID", "VOICE_DATA_FOLDER", "VOICE_SUPERVISOR"].includes(name));
    const isSetting = (name: string) => Object.hasOwn(SETTINGS, name);
    return {
      settings: names.filter(isSetting).sort(),
      others: names.filter((name) => !isSetting(name)).sort(),
    };
  }

  function readBy(...readers: string[]): string[] {
    return Object.entries(SETTINGS)
      .filter(([, setting]) => setting.readers.some((reader: string) => readers.includes(reader)))
      .map(([name]) => name)
      .sort();
  }

  it("of a server is its surroundings alone", () => {
    expect(namesIn(environments.server())).toEqual({ settings: [], others: ["LC_ALL", "PATH"] });
  });

  it("of a program on Node has the settings that it reads", () => {
    const others = ["LC_ALL", "NODE_OPTIONS", "PATH"];
    const main = environments.main(at, ports, "front,sessions");
    expect(namesIn(main)).toEqual({
      settings: readBy("main", "front", "sessions"),
      others: [...others, "UV_THREADPOOL_SIZE"],
    });
    const given = new Environments({ ...everySetting, UV_THREADPOOL_SIZE: "64" }, data);
    expect(given.main(at, ports, "front").UV_THREADPOOL_SIZE).toBe("64");
    const worker = environments.worker(at, 1, 2, "worker");
    expect(namesIn(worker)).toEqual({
      settings: readBy("worker"),
      others: [...others, "MALLOC_ARENA_MAX"].sort(),
    });
  });

  it("of a front alone and of a session host alone lacks what the other needs", () => {
    expect(namesIn(environments.main(at, ports, "front")).settings).toEqual(
      readBy("main", "front"),
    );
    const sessions = namesIn(environments.main(at, ports, "sessions")).settings;
    expect(sessions).toEqual(readBy("main", "sessions"));
    expect(sessions).not.toContain("SMTP_URL");
    expect(sessions).not.toContain("OAUTH_PROVIDERS");
  });

  it("of the set-up has one password of the administrator", () => {
    const admin = { email: "a@b.c", password: "secret", given: false };
    const env = environments.setup(at, admin);
    expect(env).toMatchObject({
      ADMIN_FIRST_PASSWORD: "secret",
      DATABASE_OWNER_URL: "postgres://owner",
    });
    expect(env.ADMIN_PASSWORD).toBeUndefined();
    expect(namesIn(environments.setup(at, { ...admin, given: true })).settings).toEqual(
      readBy("setup").filter((name) => name !== "ADMIN_FIRST_PASSWORD"),
    );
  });

  it("of the demo has the login that it plays with, and no other", () => {
    const env = environments.demo({ email: "a@b.c", password: "secret" });
    expect(namesIn(env).settings).toEqual(["NO_COLOR", "VOICE_EMAIL", "VOICE_PASSWORD"]);
  });
});
