import { withTimeout } from "../base/deferred.ts";
import { newId } from "../base/ids.ts";
import { type CreateErasureOptions, createErasure } from "../conversations/erasure/feature.ts";
import { ErasureLedgerStore } from "../conversations/erasure/ledger/ledger-store.ts";
import { RepeatedErasure } from "../conversations/erasure/repeated-erasure.ts";
import { RepeatedRedaction } from "../conversations/erasure/repeated-redaction.ts";
import { SessionStore } from "../conversations/sessions/store.ts";
import { forgetVoicesAgain } from "../conversations/voices/forgotten-voices-store.ts";
import { renderFrames } from "../live/render.ts";
import { ACCOUNT_ENDINGS, DELETION_PARTS } from "./other-tables.ts";
import { type AppContext, featureContext, type Shared } from "./shared.ts";

/** Removing some thousand files takes seconds on a slow disk, milliseconds. */
const ERASING_MS = 30_000;

/** Side effects of a deletion outside the database. */
export function erasureEffects({
  audioWatch,
  blobs,
  fanout,
  commands,
  ledger,
}: Shared): Omit<CreateErasureOptions, "directory"> {
  return {
    accountEndings: ACCOUNT_ENDINGS,
    deletionParts: DELETION_PARTS,
    ledger,
    // A disk that hangs would keep one of the process's threads for each session.
    eraseAudio: async (sessionId) => {
      audioWatch.admit();
      await withTimeout(blobs.delete(sessionId), ERASING_MS, "Removing the audio of a session");
    },
    publish: (sessionId, { seq, at }) => {
      const record = { seq, at, event: { type: "SessionDeleted", kind: "" } } as const;
      fanout.publish(sessionId, renderFrames(sessionId, [record], new Map(), new Map()));
    },
    // A host of an older release does not know this command and drops it; its sweeper asks the
    // record within seconds which of its sessions were deleted.
    wake: async (sessionId) => commands.post(sessionId, { type: "Wake" }, newId()),
  };
}

/** Erases again what the ledger names, before anything is served or transcribed. */
export async function eraseAgain(context: AppContext): Promise<RepeatedErasure> {
  const { shared, runtime, log } = context;
  const { pool, ledger, blobs: audio } = shared;
  const directory = new SessionStore(pool);
  const erasure = createErasure(featureContext(context), { directory, ...erasureEffects(shared) });
  const { sessions, accounts } = erasure;
  const records = new ErasureLedgerStore(pool);
  const forgetVoices = () => forgetVoicesAgain(pool);
  const parts = { ledger, records, sessions, accounts, audio, forgetVoices, runtime, log };
  const repeated = new RepeatedErasure(parts);
  await repeated.complete();
  return repeated;
}

/** Makes redactions again that the ledger names: their sessions' hosts do it. */
export async function redactAgain(context: AppContext): Promise<void> {
  await createRepeatedRedaction(context).complete();
}

export function createRepeatedRedaction({ shared, runtime, log }: AppContext): RepeatedRedaction {
  const { pool, commands: actors } = shared;
  const records = new ErasureLedgerStore(pool);
  return new RepeatedRedaction({ records, actors, runtime, log });
}
