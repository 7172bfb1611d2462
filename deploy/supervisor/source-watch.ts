import { type FSWatcher, watch } from "node:fs";
import { relative } from "node:path";

/** An editor writes one file in several steps, and a checkout many at once. */
const QUIET_MS = 250;

/** Calls back with the files that changed below some folders, once nothing has changed for a while. */
export class SourceWatch {
  readonly #watchers: FSWatcher[];
  readonly #changed = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(project: string, folders: readonly string[], onChange: (files: string[]) => void) {
    this.#watchers = folders.map((folder) =>
      watch(folder, { recursive: true }, (_event, name) => {
        if (name === null || isScratch(name)) return;
        this.#changed.add(`${relative(project, folder)}/${name}`);
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
          const files = [...this.#changed].sort();
          this.#changed.clear();
          onChange(files);
        }, QUIET_MS);
      }),
    );
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }
}

/** What editors keep beside a file, and what is generated while the service starts. */
function isScratch(name: string): boolean {
  return /(^|\/)((gen|dist)\/|\.)|[~#]$|\.(tmp|swp|swx)$/.test(name);
}
