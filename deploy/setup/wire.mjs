import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { command, tail } from "./command.mjs";
import { PROJECT, pinnedNode } from "./paths.mjs";
import { StepError } from "./step-error.mjs";

const PROTO = join(PROJECT, "proto");
const GENERATED = join(PROJECT, "src/wire/gen");
const STAMP = join(GENERATED, ".stamp");

/** Whether src/wire/gen was made from the .proto files and the generator that are here now. */
export function wireIsCurrent() {
  try {
    return readFileSync(STAMP, "utf8") === fingerprint();
  } catch {
    return false;
  }
}

/** Makes src/wire/gen beside the old one and swaps, so that no reader finds it half done. */
export async function generateWire() {
  const scratch = join(PROJECT, "node_modules", `.voice-wire-${process.pid}`);
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(join(scratch, "proto"), { recursive: true });
  try {
    const env = { ...process.env, PATH: `${dirname(pinnedNode())}${delimiter}${process.env.PATH}` };
    const buf = join(PROJECT, "node_modules/@bufbuild/buf/bin/buf");
    const result = await command(pinnedNode(), [buf, "generate", "-o", join(scratch, "proto")], {
      cwd: PROTO,
      env,
      timeoutMs: 120_000,
    });
    const made = join(scratch, "src/wire/gen");
    if (result.code !== 0 || !existsSync(made)) {
      throw new StepError(
        `buf generate failed:\n${tail(result.output)}`,
        "correct the .proto file that is named above",
      );
    }
    writeFileSync(join(made, ".stamp"), fingerprint());
    swap(made, join(scratch, "old"));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function swap(made, old) {
  mkdirSync(dirname(GENERATED), { recursive: true });
  if (existsSync(GENERATED)) renameSync(GENERATED, old);
  renameSync(made, GENERATED);
}

function fingerprint() {
  const hash = createHash("sha256");
  const files = readdirSync(PROTO, { recursive: true }).map(String).sort();
  for (const file of files.filter((name) => /\.(proto|yaml)$/.test(name))) {
    hash.update(file).update(readFileSync(join(PROTO, file)));
  }
  for (const name of ["ts-proto", "@bufbuild/buf"]) {
    const manifest = join(PROJECT, "node_modules", name, "package.json");
    hash.update(JSON.parse(readFileSync(manifest, "utf8")).version);
  }
  return `${hash.digest("hex")}\n`;
}
