import type { Behaviour, EffectsContext } from "../actor/actor.ts";
import type { Backlog } from "../actor/backlog.ts";
import { ActorHost } from "../actor/host.ts";
import type { Journal } from "../actor/journal.ts";
import type { LeaseTable } from "../actor/lease.ts";
import { PartitionOwner } from "../actor/partition-owner.ts";
import { Sweeper } from "../actor/sweeper.ts";
import type { Log } from "../base/log.ts";
import type { Runtime } from "../base/runtime.ts";
import type { Transcribers } from "../inference/transcription-stream.ts";
import { TurnPublisher } from "../live/turn-publisher.ts";
import { deliverTo, HostInbox, informedBy, outstandingIn } from "../nats/host-inbox.ts";
import { BusAudio } from "../nats/live-audio.ts";
import type { LiveFanout } from "../nats/live-fanout.ts";
import type { MessageBus } from "../nats/message-bus.ts";
import type { AudioSource } from "../recognition/audio-source.ts";
import type { FinalTimes } from "../recognition/final-times.ts";
import type { InterruptionCounts } from "../recognition/interruptions.ts";
import type { MeasurePart } from "../recognition/part-measuring.ts";
import { SessionRecognition } from "../recognition/session-recognition.ts";
import { StreamTails } from "../recognition/stream-tail.ts";
import { createSessionBehaviour } from "../session/behaviour.ts";
import type { SessionCommand } from "../session/command.ts";
import type { DeviceSigns } from "../session/device-signs.ts";
import type { SessionEvent } from "../session/event.ts";
import { PATIENCE, type Patience } from "../session/limits.ts";
import type { SessionState } from "../session/state.ts";
import type { SessionWrite } from "../session/write.ts";
import type { DeviceFrame } from "../wire/live-frames.ts";
import { OWNERS_CHANGED } from "../wire/subjects.ts";

export type SessionHost = ActorHost<SessionState, SessionEvent, SessionWrite, SessionCommand>;

/** Dependencies of a host of session actors. */
export interface ActorOptions {
  /**
   * Name of the host, different after every start, so that a host never takes over its own old
   * lease.
   */
  host: string;
  /** The behaviour of the actors; by default that of sessions with this `patience`. */
  behaviour?: Behaviour<SessionState, SessionEvent, SessionWrite, SessionCommand>;
  journal: Journal<SessionEvent, SessionWrite>;
  backlog: Backlog;
  source: AudioSource;
  transcribers: Transcribers;
  line: MessageBus;
  table: LeaseTable;
  fanout: LiveFanout;
  /** The state of a session's recording device, if it is known. */
  deviceOf?(sessionId: string): DeviceFrame | undefined;
  /** Measures stored parts of streams. */
  measure?: MeasurePart;
  /** Called with the position up to which a session was read, in samples. */
  readTo?(sessionId: string, samples: number): void;
  finals?: FinalTimes;
  interruptions?: InterruptionCounts;
  /** Signs of life of devices; without them no device's audio is awaited after the stop. */
  signs?: DeviceSigns;
  /** How long audio that may still come is awaited; `PATIENCE` when absent. */
  patience?: Patience;
  leaseMs: number;
  passivateMs: number;
  runtime: Runtime;
  /** The runtime of periodic looks for unfinished work; `runtime` when absent. */
  background?: Runtime;
  log: Log;
}

/** The parts of a host of session actors; none is started yet. */
export interface Actors {
  host: SessionHost;
  inbox: HostInbox;
  sweeper: Sweeper;
  owner: PartitionOwner;
  tails: StreamTails;
}

/**
 * Time to hand the sessions over, with a snapshot of each, when the process stops, milliseconds.
 */
export const HAND_OVER_MS = 10_000;

/**
 * Creates a host of session actors. Start the parts in the order host, inbox, sweeper, owner, and
 * stop them in reverse.
 */
export function createActors(options: ActorOptions): Actors {
  const { runtime, log, backlog } = options;
  const tails = new StreamTails(new BusAudio(options.line), options.source);
  const host = createHost(options, {
    tails,
    onFailed: (id) => sweeper.failed(id),
    onFenced: (partition) => owner.dispute(partition),
    hasRight: () => owner.hasRight(),
  });
  const deliver = deliverTo(host, log);
  const inbox = new HostInbox({ host: options.host, line: options.line, deliver, log });
  const sweeper = new Sweeper({
    backlog,
    owned: () => host.owned,
    activate: (id) => host.activate(id),
    active: () => host.active,
    end: (active, isDeleted) => host.end(active, isDeleted),
    deliver,
    runtime: options.background ?? runtime,
    log,
    every: 1_000,
    olderThan: 2_000,
  });
  const owner = createOwner(options, { host, sweeper });
  return { host, inbox, sweeper, owner, tails };
}

function createOwner(
  { host: name, table, line, leaseMs: leaseTime, runtime, log }: ActorOptions,
  { host, sweeper }: Pick<Actors, "host" | "sweeper">,
): PartitionOwner {
  return new PartitionOwner({
    host: name,
    table,
    runtime,
    log,
    leaseTime,
    onTaken: (partitions) => {
      host.own(...partitions);
      sweeper.taken(...partitions);
    },
    onReleased: (partitions) => host.release(...partitions),
    onLost: (partitions) => host.lose(...partitions),
    onChanged: () => line.publish(OWNERS_CHANGED, new Uint8Array()),
  });
}

interface HostOptions extends Pick<Actors, "tails"> {
  onFailed(sessionId: string): void;
  onFenced(partition: number): Promise<boolean>;
  hasRight(): boolean;
}

function createHost(
  options: ActorOptions,
  { tails, onFailed, onFenced, hasRight }: HostOptions,
): SessionHost {
  const {
    journal,
    backlog,
    source,
    transcribers,
    fanout,
    finals,
    interruptions,
    signs,
    runtime,
    log,
  } = options;
  const createEffects = ({ id, epoch, send }: EffectsContext<SessionCommand>) => {
    const publisher = new TurnPublisher({ sessionId: id, fanout, log });
    const recognition = new SessionRecognition({
      sessionId: id,
      source,
      transcribers,
      tails,
      log: log.child({ session_id: id, epoch }),
      runtime,
      notify: send,
      ...(finals && { times: finals }),
      ...(interruptions && { interruptions }),
      ...(options.measure && { measure: options.measure }),
      device: () => options.deviceOf?.(id),
      readTo: (sessionId, samples) => options.readTo?.(sessionId, samples),
      publish: (frame) => publisher.transient(frame),
    });
    // Followers see a turn before the reading does anything about it.
    return [publisher, recognition];
  };
  return new ActorHost({
    activation: {
      behaviour: options.behaviour ?? createSessionBehaviour(options.patience ?? PATIENCE),
      journal,
      createEffects,
      runtime,
      log,
      mailboxCapacity: 1_024,
      batchSize: 64,
      snapshotEvery: 200,
      appendAttempts: 8,
      hasRight,
      outstanding: outstandingIn(backlog),
      ...(signs && { informed: informedBy(signs) }),
    },
    maxActivations: 10_000,
    passivateAfter: options.passivateMs,
    sweepEvery: 10_000,
    onFailed,
    onFenced,
  });
}
