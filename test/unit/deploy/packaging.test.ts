import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OWNER_ROLE, SERVICE_ROLE } from "../../../deploy/supervisor/postgres/roles.ts";
import { NODE_ARGUMENTS } from "../../../deploy/supervisor/services.ts";
import { readConfig } from "../../../src/roles/config.ts";
import { WORKER_KEY } from "../../support/worker-key.ts";

const PROJECT = join(import.meta.dirname, "../../..");
const read = (...names: string[]) => readFileSync(join(PROJECT, ...names), "utf8");
const manifest: Record<"version" | "license", string> &
  Record<"dependencies" | "devDependencies" | "optionalDependencies", object> = JSON.parse(
  read("package.json"),
);
const FOLDERS_OF_PAPERS = [
  "",
  "deploy",
  "deploy/clients",
  "proto",
  "src",
  "src/http",
  "src/web",
  "test",
  "workers",
];
const PAPERS = FOLDERS_OF_PAPERS.flatMap((folder) =>
  readdirSync(join(PROJECT, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join(folder, name)),
);
const dockerfile = read("deploy/container/Dockerfile");

/** The least that a process of the service must be told. */
const REQUIRED = {
  DATABASE_URL: "postgres://voice@127.0.0.1/voice",
  NATS_URL: "nats://127.0.0.1",
  VOICE_BLOB_DIR: "/blobs",
  VOICE_KEY_DIR: "/keys",
  WORKER_KEY,
};

function firstGroup(text: string, pattern: RegExp): string {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`${pattern} is not in the text`);
  return found;
}

/** What a page calls its headings in links to them. */
function anchorsOf(page: string): string[] {
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

describe("papers", () => {
  test("papers: LICENSE is the licence that package.json names", () => {
    expect(manifest.license).toBe("MIT");
    expect(read("LICENSE")).toMatch(/^MIT License\n/);
    expect(read("README.md")).toContain("MIT");
  });

  test("papers: the changelog tells of what is not released, and then of this version", () => {
    const headings = read("CHANGELOG.md").match(/^## .*$/gm) ?? [];
    expect(headings[0]).toBe("## Unreleased");
    expect(headings[1]).toMatch(new RegExp(`^## ${manifest.version} - \\d{4}-\\d\\d-\\d\\d$`));
  });

  test("papers: the changelog has a line for each change", () => {
    const lines = read("CHANGELOG.md").split("\n## 1.0.0 ")[0]?.split("\n") ?? [];
    const changes = lines.slice(lines.indexOf("## Unreleased")).filter((line) => line !== "");
    expect(changes.filter((line) => !/^(- .{1,248}|##.*)$/.test(line))).toEqual([]);
  });

  test("papers: editors are told what the formatter does", () => {
    const { formatter } = JSON.parse(read("biome.json"));
    const editor = read(".editorconfig");
    expect(editor).toContain(`indent_style = ${formatter.indentStyle}`);
    expect(editor).toContain(`indent_size = ${formatter.indentWidth}`);
    expect(editor).toContain(`max_line_length = ${formatter.lineWidth}`);
  });

  test("papers: the README is short, and every link of a paper leads to a file and a section", () => {
    expect(read("README.md").split("\n").length).toBeLessThanOrEqual(170);
    expect(read("test/README.md").split("\n").length).toBeLessThanOrEqual(250);
    const links = PAPERS.flatMap((paper) =>
      [...read(paper).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]+))?\)/g)].map(
        ([, path = "", section]) => ({
          link: `${paper}: ${path}#${section ?? ""}`,
          file: path === "" ? paper : join(dirname(paper), path),
          section,
        }),
      ),
    );
    expect(links.length).toBeGreaterThan(50);
    for (const { link, file, section } of links) {
      expect(existsSync(join(PROJECT, file)), link).toBe(true);
      if (section !== undefined) expect(anchorsOf(read(file)), link).toContain(section);
    }
  });

  test("papers: CONTRIBUTING.md says of each dependency why it is there", () => {
    const [, reasons = ""] = read("CONTRIBUTING.md").split("\n## Dependencies\n");
    const told = [...reasons.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
    const isTold = (name: string) =>
      told.includes(name) || (name.startsWith("@types/") && told.includes("@types/*"));
    const { dependencies, devDependencies, optionalDependencies = {} } = manifest;
    const all = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
    expect(all.filter((name) => !isTold(name))).toEqual([]);
  });

  test("papers: deploy/README.md names each file for operators, and none that is not there", () => {
    const page = read("deploy/README.md");
    const folders = ["container", "nats", "postgres", "proxy", "systemd"];
    const files = folders.flatMap((folder) =>
      readdirSync(join(PROJECT, "deploy", folder)).map((name) => `${folder}/${name}`),
    );
    for (const file of [...files, "compose.yaml", "role.sh", "check.sh"]) {
      expect(page).toContain(`\`${file}\``);
    }
    const [opening = ""] = page.split("\n## ");
    const named = opening.matchAll(/^\| `([\w@./-]+)` \|/gm);
    for (const [, file] of named) {
      expect(existsSync(join(PROJECT, "deploy", file ?? "")), file).toBe(true);
    }
  });
});

describe("image", () => {
  test("image: is of this version, on the Debian that the service is tested on", () => {
    expect(firstGroup(dockerfile, /^ARG VERSION=(\S+)$/m)).toBe(manifest.version);
    expect(firstGroup(dockerfile, /^ARG BASE=(\S+)$/m)).toMatch(/debian:12-slim$/);
    expect(read("README.md")).toContain("On Debian 12 ");
  });

  test("packages: each that Linux installs has its hash, and comes from the registry in use", () => {
    const { packages } = JSON.parse(readFileSync(join(PROJECT, "package-lock.json"), "utf8")) as {
      packages: Record<
        string,
        {
          integrity?: string;
          resolved?: string;
          os?: string[];
          cpu?: string | string[];
          libc?: string[];
        }
      >;
    };
    const installed = Object.entries(packages).filter(
      ([path, { os, cpu, libc }]) =>
        path !== "" &&
        (os?.includes("linux") ?? true) &&
        (cpu === undefined || ["x64", "arm64"].some((each) => cpu.includes(each))) &&
        !libc?.includes("musl"),
    );
    expect(installed.length).toBeGreaterThan(400);
    const loose = installed.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"));
    expect(loose.map(([path]) => path)).toEqual([]);
    const elsewhere = installed.filter(([, { resolved }]) => resolved !== undefined);
    expect(elsewhere.map(([path]) => path)).toEqual([]);
  });

  test("image: opens the ports that its parts and the proxies use", () => {
    const entry = read("deploy/container/entrypoint.sh");
    const fixed = (name: string) =>
      firstGroup(entry, new RegExp(`${name}="\\$\\{${name}:-(\\d+)}`));
    const rest = String(readConfig(REQUIRED, "host").port);
    const grpc = fixed("GRPC_SESSIONS_PORT");
    const operations = fixed("OPS_PORT");
    expect(fixed("WORKER_OPS_PORT")).toBe(operations);
    const opened = firstGroup(dockerfile, /^EXPOSE (.+)$/m).split(" ");
    expect(opened.sort()).toEqual([rest, grpc, fixed("WORKER_PORT"), operations].sort());
    expect(read("deploy/container/health.mjs")).toContain(`|| ${operations}}/health/ready`);
    for (const file of ["Caddyfile", "nginx.conf"]) {
      expect(read("deploy/proxy", file)).toContain(`127.0.0.1:${rest}`);
      expect(read("deploy/proxy", file)).toContain(`127.0.0.1:${grpc}`);
    }
  });

  test("proxies: browsers are told to ask over TLS only", () => {
    const policy = 'Strict-Transport-Security "max-age=31536000; includeSubDomains"';
    for (const file of ["Caddyfile", "nginx.conf"]) {
      expect(read("deploy/proxy", file)).toContain(policy);
    }
  });

  test("image: takes along no data, no settings and nothing that was generated elsewhere", () => {
    const lines = read(".dockerignore").split("\n").filter(Boolean);
    expect(lines[1]).toBe("*");
    for (const line of ["deploy/.env", "src/client/gen", "src/wire/gen"])
      expect(lines).toContain(line);
    const letIn = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
    for (const name of letIn) expect(existsSync(join(PROJECT, name)), name).toBe(true);
    expect(letIn).not.toContain(".env");
    expect(letIn).not.toContain("data");
  });
});

describe("role.sh", () => {
  const project = mkdtempSync(join(tmpdir(), "role-"));
  const script = join(project, "deploy/role.sh");
  const node = join(project, `node_modules/node-linux-${process.arch}/bin/node`);

  /** In a folder whose Node only says how it was called, and as which process. */
  function run(args: string[], env: NodeJS.ProcessEnv = {}) {
    const done = spawnSync(script, args, {
      encoding: "utf8",
      env: { PATH: process.env.PATH, ...env },
    });
    const [pid, roles, arenas, ...called] = done.stdout.trim().split("\n");
    return { ...done, isNode: Number(pid) === done.pid, roles, arenas, called };
  }

  beforeAll(() => {
    mkdirSync(join(project, "deploy"));
    mkdirSync(join(node, ".."), { recursive: true });
    copyFileSync(join(PROJECT, "deploy/role.sh"), script);
    const tell = 'printf "%s\\n" $$ "$ROLES" "$MALLOC_ARENA_MAX" "$@"';
    writeFileSync(node, `#!/bin/sh\n${tell}\n`, { mode: 0o755 });
  });
  afterAll(() => rmSync(project, { recursive: true }));

  test("role.sh: each part is Node in place of the shell, called as the supervisor does", () => {
    const programs = {
      up: "deploy/supervisor/main.ts",
      setup: "src/roles/setup.ts",
      service: "src/main.ts",
      front: "src/main.ts",
      sessions: "src/main.ts",
      worker: "workers/main.ts",
    };
    for (const [part, program] of Object.entries(programs)) {
      const { isNode, called } = run([part]);
      expect(isNode, part).toBe(true);
      expect(called, part).toEqual([...NODE_ARGUMENTS, program]);
      expect(existsSync(join(PROJECT, program)), program).toBe(true);
    }
    expect(run(["up", "--port", "80"]).called.slice(-2)).toEqual(["--port", "80"]);
    expect(run(["voice", "top", "--once"]).called.slice(-3)).toEqual([
      join(project, "src/cli/main.ts"),
      "top",
      "--once",
    ]);
  });

  test("role.sh: front and sessions are roles; service leaves them to the environment", () => {
    expect(run(["front"]).roles).toBe("front");
    expect(run(["sessions"], { ROLES: "front" }).roles).toBe("sessions");
    expect(run(["service"], { ROLES: "front" }).roles).toBe("front");
    expect(run(["service"]).roles).toBe("");
    expect(run(["worker"]).arenas).toBe("1");
  });

  test("role.sh: a part that is none is refused with those that are", () => {
    const { status, stderr } = run(["fronts"]);
    expect(status).toBe(2);
    expect(stderr).toContain('There is no part "fronts".');
    expect(stderr).toContain("  worker ");
  });

  test("role.sh: without the project's Node it says what to do", () => {
    rmSync(node);
    const { status, stderr } = run(["up"]);
    expect(status).toBe(1);
    expect(stderr).toContain("run npm ci");
  });
});

describe("proxy, database and units", () => {
  test("nginx: lets through what the service takes", () => {
    const mebibytes = Number(
      firstGroup(read("deploy/proxy/nginx.conf"), /^\tclient_max_body_size (\d+)m;$/m),
    );
    const { uploadBytes } = readConfig(REQUIRED, "host");
    expect(mebibytes * 1_048_576).toBeGreaterThan(uploadBytes);
  });

  test("units: wait longer for the end than the service takes at most", () => {
    const limit = firstGroup(read("src/main.ts"), /STOP_LIMIT_MS = ([\d_]+)/).replaceAll("_", "");
    for (const unit of ["voice.service", "voice@.service"]) {
      const text = read("deploy/systemd", unit);
      const seconds = Number(firstGroup(text, /^TimeoutStopSec=(\d+)$/m));
      expect(seconds * 1_000).toBeGreaterThan(Number(limit));
      const program = firstGroup(text, /^ExecStart=\/opt\/voice\/(\S+)/m);
      expect(existsSync(join(PROJECT, program)), program).toBe(true);
    }
  });

  test("postgres: the roles are those of the embedded database", () => {
    const sql = read("deploy/postgres/roles.sql");
    const roles = [...sql.matchAll(/^create role (\w+) /gm)].map(([, name]) => name);
    expect(roles).toEqual([OWNER_ROLE, SERVICE_ROLE]);
  });
});
