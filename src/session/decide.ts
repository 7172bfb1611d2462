import { AppError } from "../base/errors.ts";
import type { CommandOf, SessionCommand } from "./command.ts";
import {
  decideChunkMeasured,
  decideChunkMended,
  decideChunkStored,
  decideGapTimeout,
  decideLateTimeout,
  decideStop,
} from "./decide-audio.ts";
import {
  decideAnnotationStored,
  decideConcernStored,
  decideEdit,
  decideGuestStored,
  decideRedact,
  decideSummaryStored,
} from "./decide-edits.ts";
import {
  decideChunkFailed,
  decideDone,
  decideLanguageUnsupported,
  decideOpened,
  decideProgress,
  decideSuspected,
  decideUtterance,
} from "./decide-recognition.ts";
import {
  decideCancelRedo,
  decideRedo,
  decideRedoProgress,
  decideRetranscription,
  decideReview,
} from "./decide-retranscription.ts";
import {
  decideClaim,
  decideMerge,
  decideNaming,
  decideReassign,
  decideUnclaim,
  decideUnmerge,
} from "./decide-speakers.ts";
import type { Turn } from "./turn.ts";

/**
 * Decides a command: puts its events and writes on the turn and returns the answer. Synchronous and
 * without effects. A repeated command changes nothing. Throws AppError to refuse, and then has
 * emitted nothing; after a retryable one the command is sent again.
 */
export function decide(turn: Turn, command: SessionCommand): unknown {
  if (command.type === "Start") {
    if (turn.state.phase !== "new") return undefined;
    const { jobId, language } = command;
    turn.emit({ type: "SessionStarted", sessionId: turn.state.sessionId, jobId, language });
    return undefined;
  }
  if (turn.state.phase === "deleted") return undefined;
  if (turn.state.phase === "new") {
    // The Start command is still on its way, and this command must not be lost meanwhile.
    throw new AppError("unavailable", "The session's start has not arrived yet.");
  }
  return decideRunning(turn, command);
}

function decideRunning(turn: Turn, command: Exclude<SessionCommand, { type: "Start" }>): unknown {
  switch (command.type) {
    case "ChunkMended":
      return decideChunkMended(turn, command);
    case "ChunkStored":
      return decideChunkStored(turn, command);
    case "ChunkMeasured":
      return decideChunkMeasured(turn, command);
    case "AudioOpened":
    case "Wake":
      // The session's effects find the audio themselves.
      return undefined;
    case "Stop":
      return decideStop(turn, command);
    case "GapTimeout":
      return decideGapTimeout(turn, command);
    case "LateTimeout":
      return decideLateTimeout(turn, command);
    case "Claim":
    case "Unclaim":
    case "NameSpeaker":
    case "MergeSpeakers":
    case "UnmergeSpeakers":
    case "ReassignSegments":
      return decideOnSpeakers(turn, command);
    case "RecognitionOpened":
      return decideOpened(turn, command);
    case "Utterance":
      return decideUtterance(turn, command);
    case "Progress":
      return decideProgress(turn, command);
    case "ChunkFailed":
      return decideChunkFailed(turn, command);
    case "Suspected":
      return decideSuspected(turn, command);
    case "RecognitionDone":
      return decideDone(turn, command);
    case "LanguageUnsupported":
      return decideLanguageUnsupported(turn, command);
    case "Reread":
      return decideRetranscription(turn, command);
    case "Redo":
    case "RedoForReview":
      return decideRedo(turn, command);
    case "ReviewRedo":
      return decideReview(turn, command);
    case "CancelRedo":
      return decideCancelRedo(turn, command);
    case "RedoProgress":
      return decideRedoProgress(turn, command);
    case "EditSegment":
      return decideEdit(turn, command);
    case "Redact":
      return decideRedact(turn, command);
    case "SummaryStored":
      return decideSummaryStored(turn, command);
    case "ConcernStored":
      return decideConcernStored(turn, command);
    case "AnnotationStored":
      return decideAnnotationStored(turn, command);
    case "GuestStored":
      return decideGuestStored(turn, command);
  }
}

type SpeakerCommand =
  | "Claim"
  | "Unclaim"
  | "NameSpeaker"
  | "MergeSpeakers"
  | "UnmergeSpeakers"
  | "ReassignSegments";

function decideOnSpeakers(turn: Turn, command: CommandOf<SpeakerCommand>): unknown {
  switch (command.type) {
    case "Claim":
      return decideClaim(turn, command);
    case "Unclaim":
      return decideUnclaim(turn, command);
    case "NameSpeaker":
      return decideNaming(turn, command);
    case "MergeSpeakers":
      return decideMerge(turn, command);
    case "UnmergeSpeakers":
      return decideUnmerge(turn, command);
    case "ReassignSegments":
      return decideReassign(turn, command);
  }
}
