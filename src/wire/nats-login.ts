import { inboxPrefix } from "./subjects.ts";

/** With what a process comes in at NATS: a user of its own, or one token for all. */
export interface NatsLogin {
  user?: string | undefined;
  password?: string | undefined;
  token?: string | undefined;
}

/** The login as options of the client, with an inbox that only this user may read. */
export function loginOptions({ user, password, token }: NatsLogin) {
  if (user !== undefined && password !== undefined) {
    return { user, pass: password, inboxPrefix: inboxPrefix(user) };
  }
  return token === undefined ? {} : { token };
}
