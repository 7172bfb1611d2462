import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { wavHeader } from "../../src/base/audio/wav.ts";
import { AppFixture } from "../support/app-fixture.ts";
import { CompatCaller } from "../support/compat-caller.ts";
import { scriptedChunks } from "../support/paired-device.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const ADDRESS = "http://127.0.0.1:8080";
const FILE = "deploy/demo/conversation.wav";

/** The example of the document, which uses the real packages, as it stands there. */
function example(): string {
  const text = readFileSync(join(PROJECT, "src/http/README.md"), "utf8");
  const all = [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code = ""]) => code);
  const found = all.filter((code) => code.includes('from "openai"'));
  expect(found).toHaveLength(1);
  const [code = ""] = found;
  for (const part of [ADDRESS, FILE, "process.env.VOICE_KEY", "createReadStream("]) {
    expect(code).toContain(part);
  }
  return code;
}

describe("the documents' example for other services' clients", () => {
  let service: AppFixture;
  let key: string;
  let file: string;

  beforeAll(async () => {
    service = await AppFixture.shared();
    key = await (await CompatCaller.open(service)).key("transcribe");
    const [pcm = Buffer.alloc(0)] = scriptedChunks(10);
    file = join(service.folder, "talk.wav");
    writeFileSync(file, Buffer.concat([wavHeader(pcm.byteLength / 2), pcm]));
  });

  async function run(code: string): Promise<string> {
    const here = code
      .replaceAll(ADDRESS, service.ready.base_url)
      .replaceAll(JSON.stringify(FILE), JSON.stringify(file));
    const env = { PATH: process.env.PATH, VOICE_KEY: key };
    const args = ["--input-type=module", "-e", here];
    const options = { cwd: PROJECT, env, timeout: 60_000 };
    return (await promisify(execFile)(process.execPath, args, options)).stdout;
  }

  it("compat example: works as it stands in the document", async () => {
    const [openai = "", deepgram = ""] = (await run(example())).trim().split("\n");
    for (const text of [openai, deepgram]) {
      expect(text.toLowerCase()).toContain("the launch of the new system");
    }
  });

  it("compat example: and as a stream of events", async () => {
    const streamed = example()
      .replace('model: "whisper-1" }', 'model: "whisper-1", stream: true }')
      .replace(
        "console.log(said.text);",
        "for await (const event of said) console.log(event.type);",
      );
    const types = (await run(streamed)).trim().split("\n");
    expect(types.filter((type) => type === "transcript.text.delta").length).toBeGreaterThan(0);
    expect(types).toContain("transcript.text.done");
  });
});
