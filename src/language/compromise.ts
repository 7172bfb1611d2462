import { createRequire } from "node:module";

type Compromise = typeof import("compromise").default;

const require = createRequire(import.meta.url);
let loaded: Compromise | undefined;

/**
 * The library that knows English word classes, loaded when it is first asked for, as most threads and
 * processes never do. Its CommonJS build is one file; `import` would load 436.
 */
export function compromise(): Compromise {
  loaded ??= require("compromise") as Compromise;
  return loaded;
}
