import { createHmac } from "node:crypto";
import {
  audioSubject,
  FOLLOWED,
  hostSubject,
  inboxPrefix,
  JOBS_WAITING,
  liveSubject,
  OWNERS_CHANGED,
  REVOCATIONS,
  STREAMS_TAKEN,
  WORKER_ANNOUNCE_SUBJECT,
} from "../../src/wire/subjects.ts";

import type { ServiceSpec } from "./layout.ts";

/** `supervisor` asks whether the servers are well. */
export type NatsRole = "front" | "sessions" | "worker" | "supervisor";

export interface NatsUser {
  readonly name: string;
  readonly role: NatsRole;
  readonly password: string;
}

/** What a role may do at NATS; everything else is refused. */
interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** Whether it may answer requests that it received, once each. */
  readonly answers?: true;
}

/** On this subject the supervisor asks itself through each server. */
export const READY = "voice.ready";

/** What every process of the service sends: it may take requests of people and devices. */
const FRONT_SENDS = [
  hostSubject("*"),
  JOBS_WAITING,
  FOLLOWED,
  REVOCATIONS,
  audioSubject("*"),
  STREAMS_TAKEN,
  // Followers of a session that is deleted here are told at once.
  liveSubject("*"),
];
const FRONT_HEARS = [
  OWNERS_CHANGED,
  liveSubject("*"),
  FOLLOWED,
  REVOCATIONS,
  STREAMS_TAKEN,
  WORKER_ANNOUNCE_SUBJECT,
];

const PERMISSIONS: Readonly<Record<NatsRole, Permissions>> = {
  front: { publish: FRONT_SENDS, subscribe: FRONT_HEARS },
  // It also takes calls of other services over gRPC, and so does all that a front does.
  sessions: {
    publish: [...FRONT_SENDS, OWNERS_CHANGED],
    subscribe: [...FRONT_HEARS, hostSubject("*"), audioSubject("*"), JOBS_WAITING],
    answers: true,
  },
  worker: { publish: [WORKER_ANNOUNCE_SUBJECT], subscribe: [] },
  supervisor: { publish: [READY], subscribe: [READY], answers: true },
};

/**
 * A user for each of these processes, and one for the supervisor. Passwords are made of this
 * installation's secret, so that none has to be kept.
 */
export function natsUsers(services: readonly ServiceSpec[], secret: string): NatsUser[] {
  const user = (name: string, role: NatsRole): NatsUser => {
    const password = createHmac("sha256", secret).update(`nats user ${name}`).digest("base64url");
    return { name, role, password };
  };
  return [
    ...services.map(({ name, roles }) =>
      user(name, roles === "front,sessions" ? "sessions" : roles),
    ),
    user("supervisor", "supervisor"),
  ];
}

/** The `authorization` block of a nats-server's configuration. */
export function authorizationLines(users: readonly NatsUser[]): string[] {
  return ["authorization {", "  users: [", ...users.flatMap(userLines), "  ]", "}"];
}

function userLines({ name, role, password }: NatsUser): string[] {
  const { publish, subscribe, answers } = PERMISSIONS[role];
  // A role that hears nothing has no inbox either: it asks nobody.
  const hears = subscribe.length === 0 ? [] : [...subscribe, `${inboxPrefix(name)}.>`];
  const heard = hears.length === 0 ? `{ deny: [">"] }` : `{ allow: ${list(hears)} }`;
  return [
    // A password of the environment stands without quotes.
    `    { user: ${name}, password: ${password.startsWith("$") ? password : JSON.stringify(password)}, permissions: {`,
    `      publish: { allow: ${list(publish)} }`,
    `      subscribe: ${heard}`,
    ...(answers ? ['      allow_responses: { max: 1, expires: "1m" }'] : []),
    "    } }",
  ];
}

function list(subjects: readonly string[]): string {
  return `[${subjects.map((subject) => JSON.stringify(subject)).join(", ")}]`;
}

/** One user for each role, with passwords from the server's environment: deploy/nats/nats.conf. */
export const TEMPLATE_USERS: readonly NatsUser[] = (["front", "sessions", "worker"] as const).map(
  (role) => ({ name: role, role, password: `$NATS_${role.toUpperCase()}_PASSWORD` }),
);
