import type { Patience } from "../../session/limits.ts";
import type { FeatureContext } from "../context.ts";
import type { AwaitedAudioStore } from "../sessions/awaited-audio-store.ts";
import type { SessionStore } from "../sessions/store.ts";
import { AudioInventoryStore } from "./audio-inventories-store.ts";
import { CandidateStore } from "./candidates-store.ts";
import { chunkRoutes } from "./chunks.ts";
import { ChunkListStore } from "./chunks-store.ts";
import { speakerClaimRoutes } from "./claims.ts";
import { completenessRoutes } from "./completeness.ts";
import { segmentEditRoutes, unclaimRoutes } from "./edit-routes.ts";
import { engineRoutes } from "./engines.ts";
import { type TranscriptOptions, transcriptRoutes } from "./export.ts";
import { transcriptionJobRoutes } from "./jobs-routes.ts";
import { TranscriptionJobStore } from "./jobs-store.ts";
import { lineHistoryRoutes } from "./line-history.ts";
import { LineHistoryStore } from "./line-history-store.ts";
import { createMarks } from "./marks/routes.ts";
import { redactionRoutes } from "./redaction.ts";
import { type RedoOptions, redoRoutes } from "./redo.ts";
import { reviewRoutes } from "./review-routes.ts";
import { segmentRoutes } from "./segments.ts";
import { PostgresSegmentEdits, SegmentStore } from "./segments-store.ts";
import { speakerNameRoutes } from "./speaker-names.ts";
import { SpeakerNameStore } from "./speaker-names-store.ts";
import { voiceRoutes } from "./voice-routes.ts";
import { TranscriptWriter } from "./writing/transcript-writer.ts";

interface CreateTranscriptOptions {
  directory: SessionStore;
  awaited: AwaitedAudioStore;
  patience: Patience;
  notes: TranscriptOptions["notes"];
}

/** The words of sessions: read, marked, corrected, claimed, redacted and transcribed again. */
export function createTranscript(
  context: FeatureContext,
  { directory, awaited, patience, notes }: CreateTranscriptOptions,
) {
  const { pool, cursorKey, actors, engines, languageModels, stack, queues, tenants } = context;
  const { marks, ...marking } = createMarks(context, { directory });
  const segments = new SegmentStore(pool);
  const edits = new PostgresSegmentEdits(pool);
  const jobs = new TranscriptionJobStore(pool);
  const chunks = new ChunkListStore(pool);
  const inventories = new AudioInventoryStore(pool);
  const writer = new TranscriptWriter();
  queues.add(writer);
  stack.push("transcript writer", () => writer.stop());
  const redo: RedoOptions = { jobs, actors, engines };
  return {
    segments,
    redo,
    routes: [
      ...chunkRoutes({ directory, chunks, cursorKey }),
      ...segmentRoutes({ directory, segments, cursorKey }),
      ...transcriptRoutes({ directory, segments, gaps: segments, marks, notes, writer, tenants }),
      ...marking.routes,
      ...speakerClaimRoutes({
        directory,
        assignees: directory,
        contest: (...claim) => context.others.contestClaim(pool, ...claim),
        actors,
      }),
      ...transcriptionJobRoutes({ directory, jobs, segments, cursorKey }),
      ...redoRoutes(redo),
      ...reviewRoutes({ directory, actors, writer, tenants, candidates: new CandidateStore(pool) }),
      ...engineRoutes({ engines, languageModels }),
      ...segmentEditRoutes({ directory, segments, edits, actors }),
      ...lineHistoryRoutes({
        directory,
        segments,
        history: new LineHistoryStore(pool),
        cursorKey,
      }),
      ...voiceRoutes({ directory, actors }),
      ...unclaimRoutes({ directory, actors }),
      ...speakerNameRoutes({ directory, actors, names: new SpeakerNameStore(pool) }),
      ...redactionRoutes({ directory, actors }),
      ...completenessRoutes({ directory, inventories, gaps: segments, awaited, patience }),
    ],
  };
}
