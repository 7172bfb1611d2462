import type { Authenticator } from "../access/authenticator.ts";
import type { FeatureContext } from "../conversations/context.ts";
import type { SessionErasure } from "../conversations/erasure/session-erasure.ts";
import type { DeviceSessionStore } from "../conversations/recording/device-sessions-store.ts";
import type { WholeFiles } from "../conversations/recording/whole-files.ts";
import type { SessionStore } from "../conversations/sessions/store.ts";
import { SegmentStore } from "../conversations/transcript/segments-store.ts";
import type { SessionFrames } from "../live/session-frames.ts";
import { AnswerWriter } from "./answer-writer.ts";
import { deepgramRoutes } from "./deepgram-routes.ts";
import { FileCalls } from "./file-calls.ts";
import { openAiRoutes } from "./openai-routes.ts";
import { CompatSessions } from "./sessions.ts";

interface CreateCompatOptions {
  directory: SessionStore;
  deviceSessions: DeviceSessionStore;
  files: WholeFiles;
  frames: SessionFrames;
  authenticator: Pick<Authenticator, "revalidate">;
  eraser: SessionErasure;
}

/** Transcription for programs that speak another service's interface. */
export function createCompat(
  { pool, log, notifier, queues, engines, stack, tenants }: FeatureContext,
  options: CreateCompatOptions,
) {
  const { directory, deviceSessions, files, frames, authenticator, eraser } = options;
  const sessions = new CompatSessions({
    ...{ sessions: deviceSessions, engines, authenticator, eraser, notifier, log },
  });
  const segments = new SegmentStore(pool);
  const answers = new AnswerWriter();
  stack.push("answer writer", () => answers.stop());
  queues.add(answers);
  const calls = new FileCalls({
    ...{ sessions, files, frames, segments, directory, answers, tenants },
  });
  const names = (id: string) => segments.vocabulary(id);
  const engine = async (id: string) => (await directory.get(id))?.engine;
  return {
    /** What live calls need besides the streams. */
    live: { sessions, frames, engines, log, names, engine },
    routes: [...openAiRoutes({ calls, engines }), ...deepgramRoutes({ calls, engines })],
  };
}
