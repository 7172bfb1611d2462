import { NIGHTLY_PROJECTS } from "../../deploy/testing/projects.mjs";

/** One command of the nightly run. */
export interface Part {
  readonly name: string;
  readonly what: string;
  /** Script and arguments, from the project's folder. */
  readonly command: readonly string[];
  /** A JSON report of the command, whose rows with `met: false` are marks that were missed. */
  readonly marks?: string;
}

/** In the order in which they run; none may take longer than `LONGEST_MINUTES`. */
export const PARTS: readonly Part[] = [
  {
    name: "tests",
    what: "tests that are slow or bring installations of their own",
    command: ["deploy/test.mjs", ...NIGHTLY_PROJECTS.map(({ name }) => name)],
  },
  {
    name: "sim",
    what: "300 seeds of the simulation",
    command: ["test/sim/run.ts", "--seeds", "300", "--workers", "2"],
  },
  {
    name: "chaos",
    what: "200 faults of the network and 20 kills, a switchover, hosts that are cut off",
    command: ["test/chaos/run.ts"],
  },
  {
    name: "cluster",
    what: "40 kills of random parts of a cluster",
    command: ["test/chaos/cluster-run.ts"],
  },
  {
    name: "fence",
    what: "100 owners that were stopped past their lease",
    command: ["test/chaos/fence-run.ts"],
  },
  {
    name: "fuzz",
    what: "ten minutes of requests, frames and calls that nobody should send",
    command: ["test/fuzz/run.ts", "--minutes", "10"],
  },
  {
    name: "eval",
    what: "word error rates of the whole service, with their marks",
    command: ["test/eval/run.ts", "--only", "librivox", "--deliver", "0.5,2,5,30,stream"],
    marks: "out/eval.json",
  },
  {
    name: "growth",
    what: "how costs grow with sessions, chunks and hours, with their marks",
    command: ["test/bench/run.ts", "growth"],
    marks: "out/bench.json",
  },
];

export const LONGEST_MINUTES = 75;
