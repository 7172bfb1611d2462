import type { UserSession } from "../client/user-session.ts";
import { unpair } from "../device/virtual-device.ts";
import type { Step } from "./step-runner.ts";

/** What an examination has left in the service so far. */
export interface Traces {
  sessionId?: string;
  deviceId?: string;
  workspaceId?: string;
}

/** Deletes them, each whatever becomes of the others; nothing to do is no step. */
export async function cleanUp(
  user: UserSession,
  { sessionId, deviceId, workspaceId }: Traces,
  step: Step,
): Promise<void> {
  const tasks: [what: string, work: () => Promise<unknown>][] = [];
  if (sessionId) tasks.push([`session ${sessionId}`, () => deleteSession(user, sessionId)]);
  if (deviceId) tasks.push([`device ${deviceId}`, () => unpair(user, deviceId)]);
  if (workspaceId) tasks.push(["its workspace", () => deleteWorkspace(user, workspaceId)]);
  if (tasks.length === 0) return;
  const left: string[] = [];
  const advice = "delete them by hand: DELETE /api/sessions/{id}, /api/devices/{id}";
  await step("cleanup", advice, async () => {
    for (const [what, work] of tasks) await work().catch(() => left.push(what));
    if (left.length > 0) throw new Error(`left behind: ${left.join(", ")}`);
    return [undefined, `deleted ${tasks.map(([what]) => what).join(", ")}`];
  });
}

async function deleteSession(user: UserSession, id: string): Promise<void> {
  const params = { path: { session_id: id } };
  await user.call((client) => client.DELETE("/sessions/{session_id}", { params }));
}

async function deleteWorkspace(user: UserSession, id: string): Promise<void> {
  await user.call((client) => client.DELETE("/workspaces/{id}", { params: { path: { id } } }));
}
