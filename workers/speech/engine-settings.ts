import type { EngineSettings } from "./engine-schemas.ts";

/** The engines where no file names others. */
export const DEFAULT_ENGINES: readonly EngineSettings[] = [{ kind: "moonshine-tiny-en" }];

/** The name by which the engine is chosen. */
export function nameOfEngine(settings: EngineSettings): string {
  return settings.kind === "moonshine-tiny-en" ? settings.kind : settings.name;
}
