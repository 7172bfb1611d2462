import { type DatabasePool, sql } from "slonik";
import { z } from "zod";
import { OPUS_PRE_ROLL } from "../base/audio/opus-packets.ts";
import { SESSION_RATE } from "../base/audio/sample-rate.ts";
import { soundKind } from "../base/codecs/sound-kinds.ts";
import { LookupBatcher } from "../base/lookup-batcher.ts";
import {
  RECORDED_FRAGMENT,
  RECORDED_FRAGMENTS,
  recordedFragments,
} from "../conversations/recording/audio-files/fragment-rows-store.ts";
import { readFragments } from "../conversations/recording/audio-files/stored-fragments.ts";
import type { LiveFragment } from "../conversations/recording/chunk-assembler.ts";
import type { Damage } from "../conversations/recording/integrity/file-damage.ts";
import { digestsOf } from "../conversations/recording/integrity/stored-digests-store.ts";
import type { VerifiedAudio } from "../conversations/recording/integrity/verified-audio.ts";
import { readLead } from "../conversations/transcript/audio-parts-store.ts";
import { optionalColumn } from "../postgres/optional-column.ts";
import { tenantOf } from "../postgres/tenants.ts";
import { activeNames } from "../tenancy/workspaces/workshops-store.ts";
import { joinVocabulary } from "../wire/vocabulary.ts";
import type {
  AudioSource,
  Opening,
  OpeningPosition,
  PlacedChunk,
  StoredCheckpoint,
} from "./audio-source.ts";

/**
 * Most look-ups in one query: a checkpoint takes up to 100 kB, the fragments of a chunk up to three times
 * that.
 */
const MOST_OPENINGS = 20;
const MOST_LOOKUPS = 10;

const isJson = (value: unknown): boolean => typeof value === "object";
/** Number of the batch's key that the row belongs to, from 1. */
const place = { n: z.number() };
const chunkRow = z.object({
  ...place,
  sequence: z.number(),
  start: z.number(),
  length: z.number(),
  samples: z.number(),
  mediaType: z.string(),
  sha256: z.string(),
  digests: optionalColumn(z.array(z.string())),
});

/** SQL: whether hypotheses are wanted; true unless the stream's settings say otherwise. */
const WANTS_INTERIM = sql.fragment`coalesce((a.settings->>'interim')::boolean, true)`;
const fragmentRow = z.object({
  ...place,
  mediaType: z.string(),
  sampleRate: z.number(),
  interim: z.boolean(),
  ...RECORDED_FRAGMENT,
});
const openingRow = z.object({
  ...place,
  position: z.number().nullable(),
  recogniser: z.instanceof(Buffer).nullable(),
  speakers: z.instanceof(Buffer).nullable(),
  voices: z.record(z.string(), z.number()).nullable(),
  sequence: z.number(),
  vocabulary: z.array(z.string()),
  workspaceVocabulary: z.array(z.string()),
  language: z.string(),
  current: optionalColumn(z.string()),
  asked: optionalColumn(z.string()),
  preferred: optionalColumn(z.string()),
  mayLeave: z.boolean(),
  tenant: optionalColumn(z.string()),
  names: z.array(z.string()),
  speakerChannels: optionalColumn(z.number()),
  interim: z.boolean(),
  suspects: z.custom<Opening["suspects"]>(isJson),
});

type StoredAudio = Pick<VerifiedAudio, "read" | "note" | "readLog">;

interface Lookup {
  sessionId: string;
  sequence: number;
  index: number;
  limit: number;
}

/**
 * Reads what readings need from the chunks and checkpoints tables and the audio store. Concurrent
 * requests, as of a host that took over thousands of sessions, share few queries.
 */
export class SessionAudio implements AudioSource {
  readonly #pool: DatabasePool;
  readonly #audio: StoredAudio;
  readonly #openings = new LookupBatcher<OpeningPosition, Opening>(
    (places) => this.#readOpenings(places),
    MOST_OPENINGS,
  );
  readonly #placed = new LookupBatcher<Omit<Lookup, "index">, PlacedChunk[]>((lookups) =>
    this.#readPlaced(lookups),
  );
  readonly #fragments = new LookupBatcher<Lookup, LiveFragment[]>(
    (lookups) => this.#readFragments(lookups),
    MOST_LOOKUPS,
  );

  constructor(pool: DatabasePool, audio: StoredAudio) {
    this.#pool = pool;
    this.#audio = audio;
  }

  async bytes(
    sessionId: string,
    sha256: string,
    { digests, part }: Parameters<AudioSource["bytes"]>[2],
  ): Promise<Buffer> {
    const data = await this.#audio.read(sessionId, sha256, digests);
    // Sound that was silenced in parts is kept as WAV.
    if (part === undefined || soundKind(data) === "wav") return data;
    const lead = await readLead(this.#pool, sessionId, part);
    return lead === undefined ? data : Buffer.concat([lead, data]);
  }

  noteDamage(sessionId: string, sha256: string, damage: Damage): Promise<void> {
    return this.#audio.note({ sessionId, sha256 }, damage);
  }

  async opening(asked: OpeningPosition): Promise<Opening> {
    const found = await this.#openings.get(asked);
    return found ?? { checkpoint: undefined, ...NOTHING };
  }

  async placed(sessionId: string, fromSequence: number, limit: number): Promise<PlacedChunk[]> {
    return (await this.#placed.get({ sessionId, sequence: fromSequence, limit })) ?? [];
  }

  async fragments(
    sessionId: string,
    sequence: number,
    index: number,
    limit: number,
  ): Promise<LiveFragment[]> {
    return (await this.#fragments.get({ sessionId, sequence, index, limit })) ?? [];
  }

  async #readOpenings(places: readonly OpeningPosition[]): Promise<(Opening | undefined)[]> {
    const rows = await this.#pool.any(sql.type(openingRow)`
      select k.n::int, c.position, c.recogniser, c.speakers, c.voices,
        coalesce((
          select f.sequence from chunks f
          where f.session_id = k.id and c.position > 0 and f.start_sample <= (
              select p.start_sample from chunks p
              where p.session_id = k.id and p.start_sample <= c.position
              order by p.start_sample desc limit 1
            ) - ${OPUS_PRE_ROLL}::int
          order by f.start_sample desc, f.sequence desc limit 1
        ), 0) as sequence,
        coalesce(nullif(j.forced_language, ''), s.language) as language,
        case when c.position > 0 then j.engine end as current,
        coalesce(j.wanted_engine, s.engine) as asked, w.speech_engine as preferred,
        w.remote_engines as "mayLeave",
        ${tenantOf(sql.fragment`w.id`)} as tenant,
        s.speaker_channels as "speakerChannels",
        s.vocabulary, w.vocabulary as "workspaceVocabulary", array(${activeNames(sql.fragment`s.workshop_id`)}) as names,
        coalesce((
          select ${WANTS_INTERIM} from audio_streams a where a.session_id = k.id
        ), true) as interim,
        (
          select coalesce(json_agg(json_build_object(
            'sequence', u.sequence, 'breaks', u.breaks, 'position', u.position
          ) order by u.sequence), '[]')
          from suspects u where u.session_id = k.id and u.attempt = k.attempt
        ) as suspects
      from unnest(
          ${sql.array(of(places, "sessionId"), "uuid")},
          ${sql.array(of(places, "attempt"), "int4")},
          ${sql.array(of(places, "checkpointAttempt"), "int4")},
          ${sql.array(of(places, "position"), "int8")}
        ) with ordinality as k (id, attempt, resumed, position, n)
        join sessions s on s.id = k.id
        join workspaces w on w.id = s.workspace_id
        left join jobs j on j.id = s.job_id
        left join lateral (
          select position, recogniser, speakers, voices from checkpoints
          where session_id = k.id and attempt = k.resumed and position <= k.position
          order by position desc limit 1
        ) as c on true`);
    const found = new Map(rows.map((row) => [row.n, row]));
    return places.map((_, index) => {
      const row = found.get(index + 1);
      if (row === undefined) return undefined;
      const { sequence, interim, suspects, language, current, asked, preferred } = row;
      const { mayLeave, tenant, speakerChannels } = row;
      const engineRequest = { language, current, asked, preferred, mayLeave, tenant };
      const vocabulary = joinVocabulary(row.vocabulary, row.names, row.workspaceVocabulary);
      const read = { vocabulary, speakerChannels, engineRequest };
      return { checkpoint: checkpointOf(row), sequence, interim, suspects, ...read };
    });
  }

  async #readPlaced(lookups: readonly Omit<Lookup, "index">[]): Promise<PlacedChunk[][]> {
    const rows = await this.#pool.any(sql.type(chunkRow)`
      select k.n::int, c.sequence, c.start_sample as start, c.length_samples as length,
        c.frames::int8 * ${SESSION_RATE}::int / c.sample_rate as samples,
        c.media_type as "mediaType", encode(c.sha256, 'hex') as sha256,
        ${digestsOf(sql.fragment`c`)} as digests
      from unnest(
          ${sql.array(of(lookups, "sessionId"), "uuid")}, ${sql.array(of(lookups, "sequence"), "int4")},
          ${sql.array(of(lookups, "limit"), "int4")}
        ) with ordinality as k (id, sequence, most, n)
        cross join lateral (
          select * from chunks
          where session_id = k.id and sequence >= k.sequence and start_sample is not null
          order by sequence limit k.most
        ) as c
      order by k.n, c.sequence`);
    const each: PlacedChunk[][] = lookups.map(() => []);
    for (const { n, ...chunk } of rows) each[n - 1]?.push(chunk);
    return each;
  }

  async #readFragments(lookups: readonly Lookup[]): Promise<LiveFragment[][]> {
    const rows = await this.#pool.any(sql.type(fragmentRow)`
      select k.n::int, p.media_type as "mediaType", p.sample_rate as "sampleRate",
        ${RECORDED_FRAGMENTS}, ${WANTS_INTERIM} as interim
      from unnest(
          ${sql.array(of(lookups, "sessionId"), "uuid")}, ${sql.array(of(lookups, "sequence"), "int4")}
        ) with ordinality as k (id, sequence, n)
        join audio_pieces p on p.session_id = k.id and p.sequence = k.sequence
        left join audio_streams a on a.session_id = k.id
      order by k.n, p.piece`);
    return Promise.all(
      lookups.map((lookup, at) =>
        this.#liveFragments(
          lookup,
          rows.filter(({ n }) => n === at + 1),
        ),
      ),
    );
  }

  async #liveFragments(
    { sessionId, sequence, index: from, limit }: Lookup,
    rows: readonly z.output<typeof fragmentRow>[],
  ): Promise<LiveFragment[]> {
    const [first] = rows;
    if (first === undefined) return [];
    const { mediaType, sampleRate, interim } = first;
    const format = { mediaType, sampleRate };
    let [startFrame, startByte] = [0, 0];
    const stored = await readFragments(this.#audio, sessionId, recordedFragments(rows));
    const placed = stored.map((each): LiveFragment => {
      const place = { sequence, format, startFrame, startByte, interim };
      startFrame += each.frames;
      startByte += each.data.byteLength;
      return { kind: "fragment", ...place, ...each };
    });
    return placed.slice(from, from + limit);
  }
}

/** The values for a session that no longer exists. */
const NOTHING = { sequence: 0, interim: true, suspects: [], vocabulary: [] };

function of<T, K extends keyof T>(all: readonly T[], name: K): T[K][] {
  return all.map((each) => each[name]);
}

function checkpointOf({
  position,
  recogniser,
  speakers,
  voices,
}: z.output<typeof openingRow>): StoredCheckpoint | undefined {
  if (position === null || recogniser === null || speakers === null) return undefined;
  return { position, recogniser, speakers, voices: voices ?? undefined };
}
