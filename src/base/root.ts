import { type Environment, SettingsReader } from "./settings.ts";

/**
 * Why a part of the service does not go on as this user, as a sentence that says what to do;
 * undefined when it does. A part started by itself cannot know whom to become: whose the audio and
 * the keys are is its operator's word.
 */
export function rootProblem(env: Environment, uid = process.geteuid?.()): string | undefined {
  if (uid !== 0 || new SettingsReader(env).get("ALLOW_ROOT")) return undefined;
  return "Parts of the service run as an ordinary user, not as root: start this one as the owner of its audio and keys (User= of deploy/systemd/voice@.service, setpriv --reuid, or --user of a container), start all with npm run up, which gives each part a user of its own, or set ALLOW_ROOT=1.";
}
