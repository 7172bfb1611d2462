import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { printedFiles } from "../../../deploy/print-settings.ts";
import { knownSettings, unknownNames } from "../../../deploy/setup/env-file.mjs";
import { parseOptions } from "../../../deploy/supervisor/options.ts";
import { SETTINGS } from "../../../src/base/settings-table.ts";
import { DEFAULT_BASE_URL } from "../../../src/cli/client/user-session.ts";
import { readConfig, readSetupConfig } from "../../../src/roles/config.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");
const names = Object.keys(SETTINGS);

/** Variables of the system and of npm, and marks that our own processes give to each other. */
const NO_SETTINGS = new Set([
  ...["CI", "HOME", "INIT_CWD", "MALLOC_ARENA_MAX", "PATH", "TERM"],
  ...["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "NODE_OPTIONS", "UV_THREADPOOL_SIZE"],
  // Not read, but set for the recogniser's runtime.
  "ORT_DISABLE_TELEMETRY",
]);
const READ = /(?:\benv|#base|#accounts)(?:\.|\[")([A-Z][A-Z0-9_]+)/g;
const TAKEN_APART = /\{([^{}]*)\} = (?:process\.)?env\b/g;

/** What a source reads of its environment, by whatever way this code has for it. */
function variablesIn(text: string): string[] {
  const parts = [...text.matchAll(TAKEN_APART)].flatMap(([, inside = ""]) => inside.split(","));
  const taken = parts.map((part) => part.split(/[:=]/)[0]?.trim() ?? "");
  return [...text.matchAll(READ)].map(([, name = ""]) => name).concat(taken);
}

function sources(folder: string): string[] {
  return readdirSync(join(PROJECT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mts|mjs|cjs)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes("/gen/") && !file.includes("/node_modules/"));
}

const texts = ["src", "workers", "deploy"]
  .flatMap(sources)
  // What npm test tells its own tests is no setting, nor what programs of other machines read.
  .filter((file) => !/\/deploy\/(testing|clients)\//.test(file))
  .map((file) => [file, readFileSync(file, "utf8")] as const);

describe("settings: one table", () => {
  it.each(Object.entries(printedFiles()))("%s is what the table prints", (path, text) => {
    expect(readFileSync(join(PROJECT, path), "utf8"), "run npm run settings").toBe(text);
  });

  it("no code reads a variable that is not in it", () => {
    const strangers = texts.flatMap(([file, text]) =>
      variablesIn(text)
        .filter((name) => !names.includes(name) && !NO_SETTINGS.has(name))
        .map((name) => `${file} reads ${name}`),
    );
    expect(strangers).toEqual([]);
  });

  it("every setting in it is read somewhere", () => {
    const all = texts
      .filter(([file]) => !file.endsWith("settings-table.ts"))
      .map(([, text]) => text)
      .join("\n");
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(all))).toEqual([]);
  });

  it("the command line's own default is the table's", () => {
    expect(SETTINGS.VOICE_BASE_URL.default).toBe(DEFAULT_BASE_URL);
  });
});

describe("settings: wrong values", () => {
  const wrong = {
    PORT: "eighty",
    TRUST_PROXY: "yes",
    LOG_LEVEL: "loud",
    SMTP_URL: "mail:secret@example.org",
    WEBHOOK_ALLOW_PRIVATE: "perhaps",
    ROLES: "front,back",
    AUTO_STOP_SILENCE: "1.5",
  };

  it("are told all at once, each with what it may be and was", () => {
    const read = () => readConfig(wrong, "host");
    for (const words of [
      'PORT must be a whole number from 0 to 65535, not "eighty".',
      'TRUST_PROXY must be a whole number from 0 to 10, not "yes".',
      'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent, not "loud".',
      "SMTP_URL must be an address like smtp://… or smtps://….",
      'WEBHOOK_ALLOW_PRIVATE must be 1 or 0 (or true, false, yes, no, on, off), not "perhaps".',
      'ROLES must be a list of front, sessions, not "front,back".',
      'AUTO_STOP_SILENCE must be a whole number from 0 to 604800, not "1.5".',
      "DATABASE_URL is not set.",
      "NATS_URL is not set.",
      "VOICE_BLOB_DIR is not set.",
      "VOICE_KEY_DIR is not set.",
      "WORKER_KEY is not set: give the same to the service and all workers",
    ]) {
      expect(read).toThrow(words);
    }
    expect(read).not.toThrow("secret");
  });

  it("stop npm run up before anything is started", () => {
    expect(() => parseOptions([], { ...wrong, VOICE_SPEED: "0" }, PROJECT)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/VOICE_SPEED.*PORT.*SMTP_URL.*LOG_LEVEL/s),
        advice: expect.stringContaining("--help"),
      }),
    );
  });

  it("of a password name the setting and not the password", () => {
    const env = {
      DATABASE_URL: "postgres://a@localhost/c",
      ADMIN_EMAIL: "a@b",
      ADMIN_PASSWORD: "short",
    };
    expect(() => readSetupConfig(env)).toThrow("ADMIN_PASSWORD must be text of 8 characters");
    expect(() => readSetupConfig(env)).not.toThrow("short");
    const spaced = { ...env, ADMIN_PASSWORD: " spaces count " };
    expect(readSetupConfig(spaced).admin.password).toBe(" spaces count ");
  });
});

describe("settings: names in .env", () => {
  it("that are none are told with the nearest, and others are left alone", () => {
    const known = knownSettings();
    expect(known).toEqual(names);
    expect(unknownNames(["VOICE_PROT", "LOG_LEVL", "VOICE_QUITE_ELSE"], known)).toEqual([
      expect.stringMatching(/^\.env: VOICE_PROT is no setting.* VOICE_PORT$/),
      expect.stringMatching(/LOG_LEVL .* LOG_LEVEL$/),
      expect.stringMatching(/VOICE_QUITE_ELSE is no setting/),
    ]);
    const others = ["HTTP_PROXY", "NODE_OPTIONS", "AWS_REGION", "DATABASE_URL", "PORT"];
    expect(unknownNames(others, known)).toEqual([]);
  });
});
