import type { Part } from "../part.ts";
import { type Cluster, serverArguments, serverEnvironment } from "./cluster.ts";
import { answers } from "./roles.ts";

/** PostgreSQL as a part. SIGINT is its "fast shutdown", SIGQUIT leaves recovery to the next start. */
export function postgresPart(options: {
  cluster: Cluster;
  port: number;
  adminUrl: string;
  logFile: string;
  env: NodeJS.ProcessEnv;
  /** False only where the data may be lost: in tests. */
  durable: boolean;
}): Part {
  const { cluster, port, adminUrl, logFile, env, durable } = options;
  return {
    name: "postgres",
    title: "PostgreSQL",
    logFile,
    launch: () => ({
      program: cluster.binaries.postgres,
      args: serverArguments(cluster, port, durable),
      env: serverEnvironment(env),
      cwd: "/",
      ...cluster.user,
    }),
    probe: async () => ((await answers(adminUrl)) ? { port } : undefined),
    readyTimeoutMs: 120_000,
    stop: [
      { signal: "SIGINT", waitMs: 2_000 },
      { signal: "SIGQUIT", waitMs: 500 },
    ],
  };
}
