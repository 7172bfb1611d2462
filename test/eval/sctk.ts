import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Debian's `sctk` keeps its programs here, outside the PATH. */
const DEBIAN_FOLDER = "/usr/lib/sctk/bin";

/** Where a program of NIST's scoring toolkit is, or undefined when it is not installed. */
export function findScorer(
  program: "sclite" | "md-eval.pl",
  path = process.env.PATH ?? "",
): string | undefined {
  return [...path.split(delimiter), DEBIAN_FOLDER]
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
