import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EngineSettings, SherpaSettings } from "../../workers/speech/engine-schemas.ts";
import { tryEngines } from "../../workers/speech/sherpa/model-trial.ts";
import {
  openReading,
  readAll,
  readersOf,
  someSpeech,
  textsOf,
  utterancesOf,
} from "../support/engine-reading.ts";
import { TOKENS, writeNemoTransducer, writeSenseVoice } from "../support/speech-model-files.ts";

const LONG = 120_000;
const SECONDS = 10;
const WORDS = new RegExp(
  `^(${TOKENS.slice(1)
    .map((token) => token.replace("▁", ""))
    .join("|")})+[.,?]?$`,
  "i",
);

describe("an engine of sherpa-onnx", { timeout: LONG }, () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "speech-models-"));
    writeSenseVoice(join(folder, "whole"));
    writeNemoTransducer(join(folder, "transducer"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const engine = (type: SherpaSettings["type"], part: string): EngineSettings => {
    const where = { type, folder: join(folder, part), languages: ["en"] };
    return { kind: "sherpa-onnx", name: "neural", ...where };
  };

  async function read(settings: EngineSettings) {
    const readers = await readersOf(settings);
    try {
      const reader = await openReading(readers, "neural");
      return { opened: reader.opened, messages: await readAll(reader, someSpeech(SECONDS)) };
    } finally {
      await readers.close();
    }
  }

  it.each([
    ["sense-voice", "whole"],
    ["nemo-transducer", "transducer"],
  ] as const)(
    "%s reads whole utterances, to words at their places, the same each time",
    async (type, part) => {
      const { opened, messages } = await read(engine(type, part));
      expect(opened).toMatchObject({ engine: "neural", engineVersion: `sherpa-onnx ${type}` });
      const utterances = utterancesOf(messages);
      expect(utterances.length).toBeGreaterThan(1);
      for (const { start, end, segments } of utterances) {
        for (const { words } of segments) {
          for (const word of words) {
            expect(word.text).toMatch(WORDS);
            expect(word.start).toBeGreaterThanOrEqual(start);
            expect(word.end).toBeGreaterThanOrEqual(word.start);
            expect(word.end).toBeLessThanOrEqual(end);
          }
        }
      }
      const hypotheses = messages.filter(({ $case }) => $case === "hypothesis");
      expect(hypotheses).toEqual([]);
      expect(textsOf((await read(engine(type, part))).messages)).toEqual(textsOf(messages));
    },
  );

  it("whose model is missing or broken is told of, and the others read", async () => {
    const broken = join(folder, "broken");
    writeSenseVoice(broken);
    writeFileSync(join(broken, "model.onnx"), "no network");
    const tried = await tryEngines([
      { kind: "moonshine-tiny-en" },
      { ...engine("sense-voice", "nowhere"), name: "gone" } as EngineSettings,
      { ...engine("nemo-transducer", "whole"), name: "half" } as EngineSettings,
      { ...engine("sense-voice", "broken"), name: "broken" } as EngineSettings,
      engine("sense-voice", "whole"),
    ]);
    expect(tried?.usable).toEqual([{ kind: "moonshine-tiny-en" }, engine("sense-voice", "whole")]);
    const reasons = Object.fromEntries(
      (tried?.missing ?? []).map(({ name, reason }) => [name, reason]),
    );
    expect(reasons.gone).toMatch(/folder of the model of "gone" cannot be read \(ENOENT\)/);
    expect(reasons.half).toMatch(/file encoder\*\.onnx is missing.*voice models pull/);
    expect(reasons.broken).toMatch(/cannot use the model of "broken" \(.*…\/model\.onnx/);
    expect(JSON.stringify(reasons)).not.toContain(folder);
  });

  it("that cannot be used leaves its thread the others", async () => {
    const readers = await readersOf(engine("sense-voice", "nowhere"), {
      kind: "deepgram",
      name: "hosted",
      model: "m",
      languages: ["de"],
      url: "ws://127.0.0.1:9",
    });
    expect(readers.engines.map(({ name }) => name)).toEqual(["hosted"]);
    expect(readers.missing).toMatchObject([{ name: "neural" }]);
    await expect(openReading(readers, "neural")).rejects.toThrow(/no engine "neural"/);
    await readers.close();
    await expect(readersOf(engine("sense-voice", "nowhere"))).rejects.toThrow(/cannot be read/);
  });
});
