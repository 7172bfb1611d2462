/** Every NATS subject, stream and bucket name. */
export const COMMAND_STREAM = "VOICE_COMMANDS";

/** Commands to the sessions of one partition. */
export function commandSubject(partition: number): string {
  return `voice.commands.p${partition}`;
}

export const COMMAND_SUBJECTS = "voice.commands.*";

/** Live output of one session. */
export function liveSubject(sessionId: string): string {
  return `voice.live.${sessionId}`;
}

/** Things that end rights: a user disabled, a key revoked, guests closed. */
export const REVOCATIONS = "voice.revocations";

/** Audio that is streamed into one session. */
export function audioSubject(sessionId: string): string {
  return `voice.audio.${sessionId}`;
}

/** Connections that took a session's stream over. */
export const STREAMS_TAKEN = "voice.streams.taken";
