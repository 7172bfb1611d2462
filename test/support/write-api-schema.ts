import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  API_SCHEMA_FILE,
  apiSchemaText,
  LIVE_SCHEMA_FILE,
  liveSchemaText,
} from "./api-schema-text.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

// Where a clone has it that was made before: lint would read it there.
rmSync(resolve(PROJECT, "src/cli/gen"), { recursive: true, force: true });
write(API_SCHEMA_FILE, await apiSchemaText());
write(LIVE_SCHEMA_FILE, await liveSchemaText());

/** Written beside and swapped, so that no reader finds it half done. */
function write(path: string, text: string): void {
  const file = resolve(PROJECT, path);
  const fresh = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}
