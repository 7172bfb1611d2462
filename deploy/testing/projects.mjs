const SERVERS = ["test/support/global-setup.ts"];
const INSTALLATION = ["test/support/shared-service.ts"];
const MINUTE_MS = 60_000;
/** Of files that start whole installations, or run many seeds. */
const WHOLE_MS = 10 * MINUTE_MS;

/** Their native modules end a process when they are in a thread that ends. */
const ON_SERVERS = { pool: "forks", sharesModules: true, globalSetup: SERVERS };
/** What `npm test` leaves out of a suite lies in its folder `nightly`. */
const SUITES = [
  { name: "contract", ...ON_SERVERS, timeoutMs: 2 * MINUTE_MS, isSplit: false },
  { name: "integration", ...ON_SERVERS, timeoutMs: 2 * MINUTE_MS, isSplit: true },
  { name: "attacks", ...ON_SERVERS, timeoutMs: 2 * MINUTE_MS, isSplit: true },
  { name: "app", ...ON_SERVERS, timeoutMs: WHOLE_MS, isSplit: true },
  { name: "unit", pool: "threads", sharesModules: true, timeoutMs: MINUTE_MS, isSplit: false },
  { name: "sim", pool: "threads", sharesModules: true, timeoutMs: WHOLE_MS, isSplit: false },
];

/** All files share one installation, of which some kill parts: one after the other. */
const ON_INSTALLATION = {
  ...{ pool: "forks", globalSetup: INSTALLATION },
  ...{ timeoutMs: WHOLE_MS, isAlone: true },
};

export const PROJECTS = [
  ...SUITES.map((suite) => ({ ...suite, folders: [suite.name, `${suite.name}/!(nightly)/**`] })),
  { name: "e2e", folders: ["e2e"], ...ON_INSTALLATION, isBeside: true },
];

export const NIGHTLY_PROJECTS = [
  ...SUITES.filter(({ isSplit }) => isSplit).map((suite) => ({
    ...suite,
    name: `${suite.name}-nightly`,
    folders: [`${suite.name}/nightly`],
  })),
  { name: "e2e-faults", folders: ["e2e-faults"], ...ON_INSTALLATION },
  {
    ...{ name: "nightly", folders: ["nightly"], pool: "forks" },
    ...{ globalSetup: SERVERS, timeoutMs: WHOLE_MS },
  },
];
