import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  API_SCHEMA_FILE,
  apiSchemaText,
  LIVE_SCHEMA_FILE,
  liveSchemaText,
} from "./api-schema-text.ts";

write(API_SCHEMA_FILE, await apiSchemaText());
write(LIVE_SCHEMA_FILE, await liveSchemaText());

/** Written beside and swapped, so that no reader finds it half done. */
function write(path: string, text: string): void {
  const file = resolve(import.meta.dirname, "../..", path);
  const fresh = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(fresh, text);
  renameSync(fresh, file);
}
