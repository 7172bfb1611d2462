// Entry for tests: the real supervisor, PostgreSQL and nats-server, with stand-ins for the service.
import { join, resolve } from "node:path";
import { Screen } from "../../../deploy/setup/screen.mjs";
import { parseOptions } from "../../../deploy/supervisor/options.ts";
import { superviseUntilStopped } from "../../../deploy/supervisor/run.ts";

const here = import.meta.dirname;
const project = resolve(here, "../../..");
const screen = new Screen();
process.exitCode = await superviseUntilStopped(screen, () => ({
  options: parseOptions(process.argv.slice(2), process.env, project),
  project,
  programs: {
    setup: join(here, "fake-setup.ts"),
    main: process.env.FAKE_MAIN ?? join(here, "fake-main.ts"),
    worker: join(here, "fake-worker.ts"),
    cli: join(here, "fake-cli.ts"),
    alsoRead: ["FAKE_WORKER_DIES_ONCE", "FAKE_WORKER_STUBBORN"],
    sources: (process.env.FAKE_SOURCES ?? "").split(":").filter(Boolean),
  },
  env: process.env,
  screen,
}));
process.exit();
