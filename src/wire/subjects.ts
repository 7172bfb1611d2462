/** Every NATS subject. */

/** Commands to the sessions of one host. */
export function hostSubject(host: string): string {
  return `voice.hosts.${host}`;
}

/** Sessions have another owner. */
export const OWNERS_CHANGED = "voice.owners";

/** Batch jobs were asked for: whoever does them need not wait until they look again. */
export const JOBS_WAITING = "voice.jobs";

/** Live output of one session. */
export function liveSubject(sessionId: string): string {
  return `voice.live.${sessionId}`;
}

/** Sessions that a process follows. */
export const FOLLOWED = "voice.followed";

/** Things that end rights: a user disabled, a key revoked, guests closed. */
export const REVOCATIONS = "voice.revocations";

/** Audio that is streamed into one session. */
export function audioSubject(sessionId: string): string {
  return `voice.audio.${sessionId}`;
}

/** Connections that took a session's stream over. */
export const STREAMS_TAKEN = "voice.streams.taken";
