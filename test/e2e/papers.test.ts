import { existsSync, rmSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { call } from "../support/paired-device.ts";
import { fillIn, readmeBlocks, runStep } from "../support/readme-steps.ts";
import { makeScratchFolder } from "../support/scratch-folder.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const PATIENT_MS = 240_000;
const SCOPES = ["sessions:read", "sessions:write", "export"];

/** What people paste, word by word. */
/** That which the service brings, and the machine's own, which may be older. */
function nodes(): string[] {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const own = folders.map((folder) => join(folder, "node")).filter((file) => existsSync(file));
  return [process.execPath, ...own.filter((file) => !file.includes("node_modules")).slice(0, 1)];
}

describe("papers", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  const folder = makeScratchFolder("papers");
  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
  }, PATIENT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function paste(section: string, paper: string): Promise<string> {
    const [block = ""] = readmeBlocks(section, "sh", paper);
    const steps = fillIn(block, {
      "http://127.0.0.1:8080": service.ready.base_url,
      // The papers sign in as the administrator, who has one workspace until others make theirs.
      [service.ready.admin.email]: owner.email,
      "the password that was printed": owner.password,
      "@deploy/demo": `@${PROJECT}/deploy/demo`,
    });
    return runStep(steps, { cwd: folder, timeout: PATIENT_MS });
  }

  it(
    "papers: the lines of the README give a transcript and an answer",
    async () => {
      const told = await paste("Try it", "README.md");
      expect(told).toContain("We did not find any big problems.");
      expect(told).toMatch(/"answer":"[^"]*march/i);
    },
    PATIENT_MS,
  );

  it(
    "papers: a program of the README brings a file with a service key, in JavaScript and in Python",
    async () => {
      const body = { workspace_id: owner.workspaceId, name: "Program", scopes: SCOPES };
      const made = await call<{ key: string }>(service.api, "POST", "/api-keys", {
        token: owner.token,
        body,
      });
      const env = { VOICE_KEY: made.body.key };
      const here = { "http://127.0.0.1:8080": service.ready.base_url };
      const [js = ""] = readmeBlocks("From a program", "js", "README.md");
      const [python = ""] = readmeBlocks("From a program", "python", "src/http/README.md");
      const runs = nodes().map((node) => [`'${node}' --input-type=module`, js] as const);
      for (const [n, [command, program]] of [...runs, ["python3 -", python] as const].entries()) {
        // Each as the first: a workspace has an id of one's own once.
        const filled = fillIn(program, { ...here, "call-1": `call-${n}` });
        const steps = `${command} <<'END'\n${filled}END\n`;
        const told = await runStep(steps, { env, timeout: PATIENT_MS });
        expect(told, command).toContain("We did not find any big problems.");
      }
    },
    PATIENT_MS,
  );

  it(
    "papers: the walk shows words, a claimed name, a summary, a redaction and a receipt",
    async () => {
      const told = await paste("A walk through the interface with curl", "src/http/README.md");
      expect(told).toContain("We did not find any big problems.");
      expect(told).toContain('"summary_type":"brief"');
      expect(told).toMatch(/"speaker_label":"S1"/);
      expect(told).toMatch(/"removed"/);
    },
    PATIENT_MS,
  );
});
