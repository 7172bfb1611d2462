import { randomUUID } from "node:crypto";
import type { ApiClient } from "./api-client.ts";
import { makeWav } from "./make-wav.ts";

export const CALLERS = ["none", "bad", "user", "admin", "guest", "device", "disabled"] as const;

export type CallerName = (typeof CALLERS)[number];

export type Headers = Readonly<Record<string, string>>;

/** One of everything in a running service, and callers of every kind. */
export interface SeededWorld {
  callers: Readonly<Record<CallerName, Headers>>;
  /** Ids of things that exist, by the name that the interface has for them. */
  ids: Readonly<Record<string, string>>;
}

const PASSWORD = "correct horse battery staple";

const bearer = (token: unknown): Headers => ({ authorization: `Bearer ${String(token)}` });

/** A client whose every answer is as `status` says. */
function firmly(client: ApiClient) {
  return async (method: string, path: string, headers: Headers, body?: unknown) => {
    const options = body === undefined ? { headers } : { headers, body };
    const answer = await client.call(method, path, options);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
}

/** Makes a world of its own: what was done to another one does not show here. */
export async function seedWorld(
  client: ApiClient,
  root: { email: string; password: string },
): Promise<SeededWorld> {
  const call = firmly(client);
  const signIn = async (email: string, password = PASSWORD): Promise<Headers> =>
    bearer((await call("POST", "/auth/login", {}, { email, password })).token);
  const rootHeaders = await signIn(root.email, root.password);
  const addUser = async (role: string): Promise<{ id: string; headers: Headers }> => {
    const email = `${randomUUID()}@example.org`;
    const user = { email, name: "Somebody", role, password: PASSWORD };
    const { id } = await call("POST", "/users", rootHeaders, user);
    return { id: String(id), headers: await signIn(email) };
  };
  const [user, admin, disabled, subject] = [
    await addUser("participant"),
    await addUser("admin"),
    await addUser("participant"),
    await addUser("moderator"),
  ];
  await call("POST", `/users/${disabled.id}/disable`, rootHeaders);
  const workspace = await call("POST", "/workspaces", user.headers, { name: "Fuzz" });
  const workspace_id = String(workspace.id);
  const made = await call("POST", "/devices", user.headers, { workspace_id });
  const device = { "x-api-key": String(made.api_key) };
  const session = await record(call, String(made.device_id), device);
  const { transcription_job_id } = await call("GET", `/sessions/${session}`, user.headers);
  const guest = await call("POST", "/auth/guest", {}, { session_id: session, display_name: "G" });
  return {
    callers: {
      none: {},
      bad: bearer("eyJhbGciOiJub25lIn0.e30."),
      user: user.headers,
      admin: admin.headers,
      guest: bearer(guest.token),
      device,
      disabled: disabled.headers,
    },
    ids: {
      device_id: String(made.device_id),
      job_id: String(transcription_job_id),
      session_id: session,
      // Not a caller: what is done to it ends nobody's calls.
      user_id: subject.id,
      workspace_id,
    },
  };
}

/** A session that is being recorded, with its first chunk; returns its id. */
async function record(
  call: ReturnType<typeof firmly>,
  deviceId: string,
  device: Headers,
): Promise<string> {
  const started = await call("POST", `/devices/${deviceId}/session/start`, device, { title: "F" });
  const id = String(started.session_id);
  const headers = { ...device, "content-type": "audio/wav", "x-chunk-sequence": "0" };
  const wav = makeWav({ frames: 8_000, seed: 3 });
  await call("POST", `/sessions/${id}/upload-audio`, headers, wav);
  return id;
}

const SINGULAR = /^(.*?)(?:ie)?s$/;

/** The id that a path parameter stands for: `id` below /users is a user's. */
export function idName(template: string, parameter: string): string {
  if (parameter !== "id") return parameter;
  const segments = template.split("/");
  const before = segments[segments.indexOf("{id}") - 1] ?? "";
  return `${before.replace(SINGULAR, "$1").replaceAll("-", "_")}_id`;
}
