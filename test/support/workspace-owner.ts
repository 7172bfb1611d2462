import { randomUUID } from "node:crypto";
import { adminToken, persistently } from "./paired-device.ts";
import type { TestService } from "./test-service.ts";

const PASSWORD = "correct horse battery staple";

/** A person with a workspace of their own, in which no other test does anything. */
export interface WorkspaceOwner {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
  readonly workspaceId: string;
}

/** Throws when the service refuses a step. */
export async function newOwner(
  service: TestService,
  role: "participant" | "admin" = "participant",
): Promise<WorkspaceOwner> {
  async function post<T>(path: string, body: object, token?: string): Promise<T> {
    const answer = await persistently<T>(service, "POST", path, { body, ...(token && { token }) });
    if (answer.status < 300) return answer.body;
    throw new Error(`POST ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  const account = { email: `${randomUUID()}@example.org`, password: PASSWORD };
  const user = { ...account, name: "Olga", role };
  const { id } = await post<{ id: string }>("/users", user, await adminToken(service));
  const { token } = await post<{ token: string }>("/auth/login", account);
  const named = { name: "Workshop", preferred_language: "en" };
  const workspace = await post<{ id: string }>("/workspaces", named, token);
  return { ...account, id, token, workspaceId: workspace.id };
}
