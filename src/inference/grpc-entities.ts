import { type ChannelCredentials, Metadata } from "@grpc/grpc-js";
import type { EntityType } from "../base/entity-types.ts";
import { AppError } from "../base/errors.ts";
import type { TlsFiles } from "../wire/certificate-kinds.ts";
import type {
  ExtractEntitiesRequest,
  ExtractEntitiesResponse,
} from "../wire/gen/voice/v1/graph.ts";
import { GraphServiceClient } from "../wire/gen/voice/v1/worker_services.ts";
import { fromGrpcFailure } from "../wire/grpc-status.ts";
import { channelCredentials } from "../wire/tls-files.ts";
import { WorkerTokens } from "../wire/worker-token.ts";
import type { Placement } from "./placement.ts";

/** A segment of a session as input of an extractor. Positions are samples at 16 kHz. */
export interface GraphSegment {
  label: string;
  start: number;
  end: number;
  /** Words with their times; unclear words do not become entities. */
  words: { text: string; start: number; end: number; unclear?: boolean | undefined }[];
}

/** The words of a session, and who spoke them. */
interface SpokenSession {
  sessionId: string;
  /** BCP 47 tag of what is spoken. */
  language: string;
  segments: readonly GraphSegment[];
  speakers: readonly GraphSpeaker[];
}

export interface GraphSpeaker {
  label: string;
  /** Empty while the label is unclaimed. */
  name: string;
}

export const RELATION_KINDS = ["co_occurrence", "action", "talks_about"] as const;

export type RelationKind = (typeof RELATION_KINDS)[number];

/** The result of an extraction. Indexes count from 0 into `entities` and the given segments. */
export interface ExtractedGraph {
  entities: {
    /** Normalised name. */
    key: string;
    /** True when the entity has a meaning only within its session, such as "S1" or "tomorrow". */
    sessionOnly: boolean;
    type: EntityType;
    name: string;
    aliases: string[];
    labels: string[];
  }[];
  mentions: { entity: number; segment: number; start: number; end: number; spoke: boolean }[];
  links: {
    source: number;
    target: number;
    kind: RelationKind;
    label: string;
    weight: number;
    segment: number;
  }[];
}

const MAX_MESSAGE_BYTES = 65 * 1024 * 1024;

const CHANNEL_OPTIONS = {
  "grpc.max_receive_message_length": MAX_MESSAGE_BYTES,
  "grpc.max_send_message_length": MAX_MESSAGE_BYTES,
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  "grpc.use_local_subchannel_pool": 1,
  // Certificates of workers say what they are, not where; an address is no name in TLS.
  "grpc.ssl_target_name_override": "worker",
};

interface GrpcEntitiesOptions {
  placement: Pick<Placement, "status">;
  /** The workers' service key, when they have one. */
  key: string | undefined;
  /** With these it speaks TLS, to workers of our authority only. */
  tls?: TlsFiles | undefined;
  /** The clock that all main processes share, Unix milliseconds. */
  now?: () => number;
  /** Time limit of one answer, milliseconds. */
  deadlineMs?: number;
}

/**
 * Finds entities in a session's words with the GraphService of the least loaded worker. The same
 * words give the same graph. Rejects with `unavailable`, `overloaded` or `timeout`, which may be
 * retried.
 */
export class GrpcEntities {
  readonly #placement: Pick<Placement, "status">;
  readonly #tokens: WorkerTokens | undefined;
  readonly #credentials: ChannelCredentials;
  readonly #deadlineMs: number;
  readonly #clients = new Map<string, GraphServiceClient>();
  #isClosed = false;

  constructor({ placement, key, tls, now = Date.now, deadlineMs = 60_000 }: GrpcEntitiesOptions) {
    this.#credentials = channelCredentials(tls, "worker");
    this.#placement = placement;
    this.#deadlineMs = deadlineMs;
    this.#tokens = key === undefined ? undefined : new WorkerTokens(key, now);
  }

  async extract({
    sessionId,
    language,
    segments,
    speakers,
  }: SpokenSession): Promise<ExtractedGraph> {
    const address = this.#pick();
    const client = this.#client(address);
    const request: ExtractEntitiesRequest = {
      sessionId,
      language,
      segments: segments.map(({ label, start, end, words }) => ({ label, start, end, words })),
      speakers: speakers.map(({ label, name }) => ({ label, name })),
    };
    const response = await new Promise<ExtractEntitiesResponse>((resolve, reject) => {
      const deadline = Date.now() + this.#deadlineMs;
      const metadata = this.#tokens?.metadata(address) ?? new Metadata();
      client.extractEntities(request, metadata, { deadline }, (error, answer) => {
        if (error === null) resolve(answer);
        else reject(fromGrpcFailure(error));
      });
    });
    return response as ExtractedGraph;
  }

  /** Ends running calls. */
  close(): void {
    this.#isClosed = true;
    for (const client of this.#clients.values()) client.close();
    this.#clients.clear();
  }

  /** Workers without room for sessions count too, as graphs have a separate thread there. */
  #pick(): string {
    const [best] = this.#placement
      .status()
      .filter(({ state }) => state === "available" || state === "full")
      .sort((a, b) => a.sessions / a.capacity - b.sessions / b.capacity);
    if (best !== undefined) return best.address;
    throw new AppError("unavailable", "No worker is running that could make the graph.", {
      retryAfter: 5,
    });
  }

  #client(address: string): GraphServiceClient {
    if (this.#isClosed) throw new AppError("unavailable", "The service is stopping.");
    this.#dropSilent();
    let client = this.#clients.get(address);
    if (client === undefined) {
      client = new GraphServiceClient(address, this.#credentials, CHANNEL_OPTIONS);
      this.#clients.set(address, client);
    }
    return client;
  }

  /** Closes channels to workers that were not heard from lately. */
  #dropSilent(): void {
    const heard = new Set(this.#placement.status().map(({ address }) => address));
    for (const [address, client] of this.#clients) {
      if (heard.has(address)) continue;
      this.#clients.delete(address);
      client.close();
    }
  }
}
