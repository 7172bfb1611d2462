/** Folders of tests: a project of vitest, and a stage of `npm test` or `npm run nightly`. */
export interface SuiteProject {
  readonly name: string;
  /** Patterns below `test/`; every `*.test.ts` in them. */
  readonly folders: readonly string[];
  readonly pool: "forks" | "threads";
  /** Files run in workers that keep their modules, so that each is loaded once for a worker. */
  readonly sharesModules?: boolean;
  /** Modules whose default export starts what all files of a run share. */
  readonly globalSetup?: readonly string[];
  /** Of a test and of a hook. */
  readonly timeoutMs: number;
  /** `npm test` leaves out the files in its folder `nightly`. */
  readonly isSplit?: boolean;
  /** Its files run one after the other, before all others. */
  readonly isAlone?: boolean;
  /** They do so while those of other projects run: they wait for much, and use little of a core. */
  readonly isBeside?: boolean;
}

/** What `npm test` runs. */
export declare const PROJECTS: readonly SuiteProject[];
/** What only `npm run nightly` runs: slow, or with installations of their own. */
export declare const NIGHTLY_PROJECTS: readonly SuiteProject[];
