import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { synchronous } from "./python-sync.ts";
import { pythonTypesText } from "./python-types.ts";

const PACKAGE = resolve(
  import.meta.dirname,
  "../../deploy/clients/python/src/voice_session_client",
);
/** Apart in both: what each has of its own below what they share. */
const OWN = "runtime.py";

writeFileSync(join(PACKAGE, "types.py"), await pythonTypesText());
mkdirSync(join(PACKAGE, "_sync"), { recursive: true });
for (const name of readdirSync(join(PACKAGE, "_async"))) {
  if (!name.endsWith(".py") || name === OWN) continue;
  const source = readFileSync(join(PACKAGE, "_async", name), "utf8");
  writeFileSync(join(PACKAGE, "_sync", name), synchronous(source));
}
