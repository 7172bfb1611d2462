/** All NATS subjects. Who may use which is in deploy/supervisor/nats-users.ts. */

/** Workers announce themselves here; core NATS, without history. */
export const WORKER_ANNOUNCE_SUBJECT = "voice.workers.announce";

const INBOXES = "voice.inbox";

/** Prefix of the subjects at which the processes of a NATS user receive answers. */
export function inboxPrefix(user: string): string {
  return `${INBOXES}.${user}`;
}

/** Whether a subject is one for answers; the second prefix is that of clients without a user. */
export function isInbox(subject: string): boolean {
  return subject.startsWith(`${INBOXES}.`) || subject.startsWith("_INBOX.");
}

/** Subject of commands to the sessions of one host. */
export function hostSubject(host: string): string {
  return `voice.hosts.${host}`;
}

/** Published when partitions have new owners. */
export const OWNERS_CHANGED = "voice.owners";

/** Published when batch jobs were requested, so that hosts look for them at once. */
export const JOBS_WAITING = "voice.jobs";

/** Subject of the live frames of one session. */
export function liveSubject(sessionId: string): string {
  return `voice.live.${sessionId}`;
}

/** Announces sessions that a process follows. */
export const FOLLOWED = "voice.followed";

/** Events that end rights: a user disabled, a key revoked, guest access closed. */
export const REVOCATIONS = "voice.revocations";

/** Subject of the audio streamed into one session. */
export function audioSubject(sessionId: string): string {
  return `voice.audio.${sessionId}`;
}

/** Announces connections that took over a session's stream. */
export const STREAMS_TAKEN = "voice.streams.taken";
