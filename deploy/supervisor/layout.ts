interface Named {
  readonly name: string;
  /** For a person: "the worker". */
  readonly title: string;
}

/** A process of `src/main.ts` with these roles. */
export interface MainSpec extends Named {
  readonly roles: "front,sessions" | "front" | "sessions";
}

/** A process of `workers/main.ts`. */
interface WorkerSpec extends Named {
  readonly roles: "worker";
}

/** One process of the service. */
export type ServiceSpec = MainSpec | WorkerSpec;

/** Which processes make up the service on this machine. */
export interface Layout {
  readonly nats: readonly string[];
  readonly services: readonly ServiceSpec[];
}

const SINGLE: Layout = {
  nats: ["nats"],
  services: [
    { name: "main", title: "the main process", roles: "front,sessions" },
    { name: "worker", title: "the worker", roles: "worker" },
  ],
};

/** Two of each and three nats-servers, so that each of them may die. */
const CLUSTER: Layout = {
  nats: ["nats-1", "nats-2", "nats-3"],
  services: [
    { name: "front-1", title: "the first front", roles: "front" },
    { name: "front-2", title: "the second front", roles: "front" },
    { name: "sessions-1", title: "the first session host", roles: "sessions" },
    { name: "sessions-2", title: "the second session host", roles: "sessions" },
    { name: "worker-1", title: "the first worker", roles: "worker" },
    { name: "worker-2", title: "the second worker", roles: "worker" },
  ],
};

export function layoutOf(cluster: boolean): Layout {
  return cluster ? CLUSTER : SINGLE;
}

export function servesRest({ roles }: ServiceSpec): boolean {
  return roles === "front" || roles === "front,sessions";
}

/** Under which name the port book keeps a port of this part: one of a kind needs no number. */
export function portName(part: string, port: string): string {
  const [, number] = part.split("-");
  return number === undefined ? port : `${part}_${port}`;
}
