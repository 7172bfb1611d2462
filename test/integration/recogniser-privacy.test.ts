import { execFile } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { makeScratchFolder } from "../support/scratch-folder.ts";

const PROJECT = resolve(import.meta.dirname, "../..");
const LOAD = `
  import { InferencePool } from "./workers/inference/inference-pool.ts";
  const pool = new InferencePool({ threads: 1 });
  await pool.start();
  console.log("loaded");
  pool.stop();
`;

/** Its runtime would keep an id of the machine in the home folder, and send what it runs to its maker. */
it("the recogniser: tells nobody that it runs", async () => {
  const home = join(makeScratchFolder("home"), "home");
  mkdirSync(home);
  const env = { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: join(home, ".cache") };
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module-typescript"];
  const run = promisify(execFile)(process.execPath, [...args, "-e", LOAD], { cwd: PROJECT, env });
  const { stdout, stderr } = await run;
  expect([stdout.trim(), stderr]).toEqual(["loaded", ""]);
  expect(readdirSync(home)).toEqual([]);
});
