const SERVERS = ["test/support/global-setup.ts"];
const INSTALLATION = ["test/support/shared-service.ts"];
const MINUTE_MS = 60_000;
/** Of files that start whole installations, or run many seeds. */
const WHOLE_MS = 10 * MINUTE_MS;

export const PROJECTS = [
  // Their native modules end a process when they are in a thread that ends.
  ...["contract", "integration", "attacks"].map((name) => ({
    ...{ name, folder: name, pool: "forks", sharesModules: true },
    ...{ globalSetup: SERVERS, timeoutMs: 2 * MINUTE_MS },
  })),
  {
    ...{ name: "app", folder: "app", pool: "forks", sharesModules: true },
    ...{ globalSetup: SERVERS, timeoutMs: WHOLE_MS },
  },
  { name: "unit", folder: "unit", pool: "threads", sharesModules: true, timeoutMs: MINUTE_MS },
  { name: "sim", folder: "sim", pool: "threads", sharesModules: true, timeoutMs: WHOLE_MS },
  {
    ...{ name: "e2e", folder: "e2e", pool: "forks" },
    ...{ globalSetup: INSTALLATION, timeoutMs: WHOLE_MS },
  },
  // Its files stop and kill parts of the installation that they share.
  {
    ...{ name: "e2e-faults", folder: "e2e-faults", pool: "forks", isAlone: true },
    ...{ globalSetup: INSTALLATION, timeoutMs: WHOLE_MS },
  },
];

export const NIGHTLY_PROJECTS = [
  {
    ...{ name: "nightly", folder: "nightly", pool: "forks" },
    ...{ globalSetup: SERVERS, timeoutMs: WHOLE_MS },
  },
];
