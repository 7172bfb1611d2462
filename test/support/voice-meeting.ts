import { isDeepStrictEqual } from "node:util";
import type { Headers, Person } from "./attacked-service.ts";
import { halfOf } from "./demo-voices.ts";
import { until } from "./until.ts";
import type { VoiceHouse } from "./voice-house.ts";

interface HeardSpeaker {
  speaker_label: string;
  suggestions?: { user_id: string; display_name?: string; likelihood: number }[];
}

/** What Anna and Ben say in a first session, and in later ones. */
export const ANNA = halfOf("Anna", 0);
export const ANNA_LATER = halfOf("Anna", 1);
export const BEN = halfOf("Ben", 0);
export const BEN_LATER = halfOf("Ben", 1);

/** A workspace of three people, and a session of its owner in which the two others have spoken. */
export class VoiceMeeting {
  readonly #house: VoiceHouse;
  readonly owner: Person;
  readonly anna: Person;
  readonly ben: Person;
  workspace = "";
  /** Anna has claimed S1 here, Ben S2, and the owner has confirmed both. */
  first = "";

  private constructor(house: VoiceHouse, [owner, anna, ben]: [Person, Person, Person]) {
    this.#house = house;
    this.owner = owner;
    this.anna = anna;
    this.ben = ben;
  }

  static async held(house: VoiceHouse): Promise<VoiceMeeting> {
    const { service } = house;
    const people = [service.addUser(), service.addUser(), service.addUser()] as const;
    const meeting = new VoiceMeeting(house, await Promise.all(people));
    const { owner, anna, ben } = meeting;
    meeting.workspace = await service.addWorkspace(owner.id);
    for (const { id } of [anna, ben]) await service.join(meeting.workspace, id, "member");
    await service.sql("update users set name = 'Anna' where id = $1", [anna.id]);
    meeting.first = await meeting.heard(ANNA, BEN);
    await meeting.confirmed(meeting.first, "S1", anna);
    await meeting.confirmed(meeting.first, "S2", ben);
    return meeting;
  }

  /** A session of the owner in the workspace, shared with its members; its voices are S1, S2, …. */
  async heard(...sounds: Int16Array[]): Promise<string> {
    const spoken = sounds.map((sound, n) => ({ label: `S${n + 1}`, sound }));
    const id = await this.#house.addHeard(this.workspace, this.owner.id, spoken);
    await this.#service.sql("update sessions set visibility = 'workspace' where id = $1", [id]);
    return id;
  }

  /** Says that a voice is one's own; returns the whole answer. */
  saysMine(session: string, label: string, headers: Headers) {
    const body = { speaker_label: label, source: "self_claim" };
    return this.#service.call("POST", `/sessions/${session}/speaker-claims`, headers, body);
  }

  async claim(session: string, label: string, { headers }: Person): Promise<void> {
    const { status, text } = await this.saysMine(session, label, headers);
    if (status !== 200) throw new Error(`claim of ${label}: ${status} ${text}`);
  }

  /** The session's owner says whose a voice is. */
  assign(session: string, label: string, { id }: Person) {
    const body = { speaker_label: label, source: "moderator_assignment", assigned_user_id: id };
    const path = `/sessions/${session}/speaker-claims`;
    return this.#service.done("POST", path, this.owner.headers, body);
  }

  async confirmed(session: string, label: string, who: Person): Promise<void> {
    await this.claim(session, label, who);
    await this.assign(session, label, who);
  }

  takeBack(session: string, label: string, { headers }: Person) {
    return this.#service.done("DELETE", `/sessions/${session}/speaker-claims/${label}`, headers);
  }

  /** Of the first session, with consent, unless `more` says otherwise; returns the whole answer. */
  remember({ headers }: Person, label: string, more: object = {}) {
    const { workspace, first } = this;
    const body = { workspace_id: workspace, session_id: first, label, consent: true, ...more };
    return this.#service.call("PUT", "/users/me/voice", headers, body);
  }

  async remembered({ headers }: Person): Promise<Record<string, unknown>[]> {
    const { items } = await this.#service.done("GET", "/users/me/voice", headers);
    return items as Record<string, unknown>[];
  }

  async speakers(session: string, headers: Headers): Promise<HeardSpeaker[]> {
    const { items } = await this.#service.done("GET", `/sessions/${session}/speakers`, headers);
    return items as HeardSpeaker[];
  }

  /** The ids of whom each label is suggested to be. */
  async suggested(session: string, headers: Headers): Promise<Record<string, string[]>> {
    const speakers = await this.speakers(session, headers);
    return Object.fromEntries(
      speakers.flatMap(({ speaker_label: label, suggestions }) =>
        suggestions === undefined ? [] : [[label, suggestions.map(({ user_id: id }) => id)]],
      ),
    );
  }

  /** Waits until the suggestions are these: the first to ask may have to ask again. */
  becomes(session: string, headers: Headers, expected: Record<string, string[]>) {
    return until(
      async () => isDeepStrictEqual(await this.suggested(session, headers), expected),
      `suggestions ${JSON.stringify(expected)}`,
    );
  }

  audited(kind: string, subject: Person) {
    return this.#service.sql<{ actor_id: string | null; detail: Record<string, unknown> }>(
      "select actor_id, detail from audit_log where kind = $1 and subject_id = $2 order by seq",
      [kind, subject.id],
    );
  }

  get #service() {
    return this.#house.service;
  }
}
