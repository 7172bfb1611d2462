import { join } from "node:path";
import type { Crew } from "./crew.ts";
import type { DataFolder } from "./data-folder.ts";
import type { Addresses, Environments } from "./environment.ts";
import { type MainSpec, portName, type ServiceSpec, servesRest } from "./layout.ts";
import type { Options } from "./options.ts";
import type { Part, StopStep } from "./part.ts";
import { checkWantedPort, findFreePort, type PortBook } from "./ports.ts";

/** The TypeScript files that the supervisor runs. Tests give it small ones of their own. */
export interface Programs {
  readonly setup: string;
  readonly main: string;
  readonly worker: string;
  readonly cli: string;
  /** Variables that they read besides the settings. */
  readonly alsoRead?: readonly string[];
  /** Folders whose changes restart the service, when it is watched. */
  readonly sources: readonly string[];
}

export function projectPrograms(project: string): Programs {
  return {
    setup: join(project, "src/roles/setup.ts"),
    main: join(project, "src/main.ts"),
    worker: join(project, "workers/main.ts"),
    cli: join(project, "src/cli/main.ts"),
    sources: ["src", "workers", "proto"].map((folder) => join(project, folder)),
  };
}

/** How every TypeScript file is run: on this very Node, types stripped. */
export const NODE_ARGUMENTS: readonly string[] = [
  "--disable-warning=ExperimentalWarning",
  "--experimental-async-context-frame",
];

/** The setting in which a person chooses the port. */
const SETTINGS = { ops: "OPS_PORT", grpc_sessions: "GRPC_SESSIONS_PORT", worker: "WORKER_PORT" };

const STOP: readonly StopStep[] = [{ signal: "SIGTERM", waitMs: 5_200 }];

export interface ServicePlan {
  readonly at: Addresses;
  /** Of the first front; 0 takes any free one. */
  readonly wantedPort: number;
  /** Ports of the first of each kind that a person chose. */
  readonly chosen: Options["ports"];
  readonly ports: PortBook;
  readonly programs: Programs;
  readonly environments: Environments;
  readonly data: DataFolder;
  readonly crew: Crew;
}

/** The processes of the service as parts, each with ports of its own. */
export async function planServices(
  specs: readonly ServiceSpec[],
  plan: ServicePlan,
): Promise<Part[]> {
  const first = specs.find(servesRest);
  const firstWorker = specs.find(({ roles }) => roles === "worker");
  const parts: Part[] = [];
  for (const spec of specs) {
    const env =
      spec.roles === "worker"
        ? await workerEnvironment(spec, spec === firstWorker, plan)
        : await mainEnvironment(spec, spec === first, plan);
    const program = spec.roles === "worker" ? plan.programs.worker : plan.programs.main;
    const user = spec.roles === "worker" ? "worker" : "service";
    const launch = () => plan.crew.launch(user, [...NODE_ARGUMENTS, program], env);
    parts.push(servicePart(spec, launch, plan.data.file("logs", `${spec.name}.log`)));
  }
  return parts;
}

async function workerEnvironment(
  { name }: ServiceSpec,
  isFirst: boolean,
  plan: ServicePlan,
): Promise<NodeJS.ProcessEnv> {
  const { at, environments, ports } = plan;
  const port = await servicePort(name, "worker", isFirst, plan);
  // Not "ops": of a single machine's parts that is the main process's.
  const opsPort = await ports.take(portName(name, "worker_ops"));
  return environments.worker(at, port, opsPort, name);
}

async function servicePort(
  part: string,
  port: keyof Options["ports"],
  isFirst: boolean,
  { chosen, ports }: ServicePlan,
): Promise<number> {
  const wanted = isFirst ? chosen[port] : undefined;
  if (wanted === undefined) return ports.take(portName(part, port));
  await checkWantedPort(wanted, SETTINGS[port]);
  return wanted;
}

async function mainEnvironment(
  spec: MainSpec,
  isFirst: boolean,
  plan: ServicePlan,
): Promise<NodeJS.ProcessEnv> {
  const { name, roles } = spec;
  const { at, wantedPort, ports, environments } = plan;
  const opsPort = await servicePort(name, "ops", isFirst, plan);
  const grpcSessionsPort = await servicePort(name, "grpc_sessions", isFirst, plan);
  const port = await restPort(spec, isFirst ? wantedPort : undefined, ports);
  const alone = roles === "front,sessions";
  return environments.main(
    at,
    { port, opsPort, grpcSessionsPort },
    roles,
    alone ? undefined : `-${name}`,
  );
}

async function restPort(
  spec: ServiceSpec,
  wanted: number | undefined,
  ports: PortBook,
): Promise<number> {
  if (!servesRest(spec)) return 0;
  if (wanted === undefined) return ports.take(portName(spec.name, "rest"));
  return wanted === 0 ? findFreePort() : wanted;
}

/** A Node process that prints a line of JSON whose `event` is "ready". */
function servicePart({ name, title }: ServiceSpec, launch: Part["launch"], logFile: string): Part {
  return {
    name,
    title,
    logFile,
    launch,
    readyTimeoutMs: 60_000,
    stop: STOP,
  };
}
