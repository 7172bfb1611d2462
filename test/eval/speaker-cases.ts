import { SESSION_RATE } from "../../src/base/audio/sample-rate.ts";
import { joined } from "../../workers/speech/open-utterance.ts";
import type { SpokenTurn } from "./diarisation-score.ts";
import type { SpeakerRecording } from "./speaker-recording.ts";

const PAUSE = new Int16Array(0.5 * SESSION_RATE);
const HOUR = 3_600 * SESSION_RATE;

/** A person's turns, each of 1.5 to 10 s, in the order of the recordings. */
type Turns = ReadonlyMap<string, readonly Int16Array[]>;

/** Turns of each person who has speech alone in all of these recordings, by person. */
async function turnsOf(recordings: readonly SpeakerRecording[]): Promise<Turns> {
  const turns = new Map<string, Int16Array[]>();
  for (const { load } of recordings) {
    const { pcm, reference } = await load();
    for (const turn of reference) {
      const others = reference.filter(({ speaker }) => speaker !== turn.speaker);
      if (others.some(({ start, end }) => start < turn.end && end > turn.start)) continue;
      if (turn.end - turn.start < 1.5) continue;
      const piece = pcm.slice(turn.start * SESSION_RATE, turn.end * SESSION_RATE);
      turns.set(turn.speaker, [...(turns.get(turn.speaker) ?? []), piece]);
    }
  }
  return turns;
}

/** Puts turns together, half a second between them. */
class Conversation {
  readonly #parts: Int16Array[] = [];
  readonly #turns: SpokenTurn[] = [];
  /** Samples so far. */
  length = 0;

  say(speaker: string, pcm: Int16Array | undefined): this {
    if (pcm === undefined) return this;
    const start = this.length / SESSION_RATE;
    this.#turns.push({ speaker, start, end: start + pcm.length / SESSION_RATE });
    this.#parts.push(pcm, PAUSE);
    this.length += pcm.length + PAUSE.length;
    return this;
  }

  get recording(): { pcm: Int16Array; reference: SpokenTurn[] } {
    return { pcm: joined(this.#parts), reference: this.#turns };
  }
}

/**
 * Conversations that are short or long, made of turns of human voices: all pairs with one sentence
 * each, everybody there is, one person alone for an hour, one who comes back after an hour, and
 * two and three people by turns through two microphones.
 *
 * @param recordings of voices in turns, by their names `clean-…`, `room-…`
 */
export function speakerCases(recordings: readonly SpeakerRecording[]): SpeakerRecording[] {
  if (!["clean-c", "room-c"].every((begin) => recordings.some((r) => r.name.startsWith(begin)))) {
    return [];
  }
  const heard = (condition: string) =>
    turnsOf(recordings.filter(({ name }) => name.startsWith(`${condition}-c`)));
  const made = (name: string, make: (clean: Turns, room: Turns) => Conversation) => ({
    set: `case ${name}`,
    name: `case-${name}`,
    load: async () => make(await heard("clean"), await heard("room")).recording,
  });
  const viaMicrophones = (count: string, people: readonly number[]) => {
    const make = (clean: Turns, room: Turns) => twoMicrophones(clean, room, people);
    const recording = made(`microphones-${count}-${people.join("")}`, make);
    return { ...recording, set: `case ${count} people, two microphones` };
  };
  return [
    ...[1, 2, 3, 4, 5, 6, 7].map((apart) => {
      const pairs = { ...made(`pairs-${apart}`, (clean) => pair(clean, apart)) };
      return { ...pairs, set: "case pairs, a sentence each" };
    }),
    made("everybody", everybody),
    made("alone-hour", aloneForAnHour),
    made("back-after-an-hour", backAfterAnHour),
    ...[0, 1, 2, 3, 4, 5, 6, 7].map((from) => {
      const three = [from, (from + 1) % 8, (from + 2) % 8];
      return viaMicrophones("three", three);
    }),
    ...[0, 1, 2, 3, 4, 5, 6, 7].flatMap((one) =>
      [0, 1, 2, 3, 4, 5, 6, 7].slice(one + 1).map((other) => viaMicrophones("two", [one, other])),
    ),
  ];
}

/** The first person and the one so many places behind, a sentence each. */
function pair(turns: Turns, apart: number): Conversation {
  const people = [...turns];
  const [one, other] = [people[0], people[apart % people.length]];
  return new Conversation().say(one?.[0] ?? "", one?.[1][0]).say(other?.[0] ?? "", other?.[1][0]);
}

function everybody(turns: Turns): Conversation {
  const conversation = new Conversation();
  for (let round = 0; round < 5; round++) {
    for (const [person, own] of turns) conversation.say(person, own[round]);
  }
  return conversation;
}

function aloneForAnHour(turns: Turns): Conversation {
  const conversation = new Conversation();
  const [person = "", own = []] = [...turns][0] ?? [];
  for (let n = 0; conversation.length < HOUR; n++) conversation.say(person, own[n % own.length]);
  return conversation;
}

function backAfterAnHour(turns: Turns): Conversation {
  const [[first = "", own = []] = [], ...others] = [...turns];
  const conversation = new Conversation();
  for (const turn of own.slice(0, 3)) conversation.say(first, turn);
  for (let n = 0; conversation.length < HOUR; n++) {
    const [person = "", theirs = []] = others[n % 3] ?? [];
    conversation.say(person, theirs[Math.floor(n / 3) % theirs.length]);
  }
  for (const turn of own.slice(3, 6)) conversation.say(first, turn);
  return conversation;
}

function twoMicrophones(clean: Turns, room: Turns, people: readonly number[]): Conversation {
  const conversation = new Conversation();
  for (let round = 0; round < 6; round++) {
    for (const [person, own] of people.map((at) => [...clean][at] ?? (["", []] as const))) {
      conversation.say(person, round % 2 === 0 ? own[round] : room.get(person)?.[round]);
    }
  }
  return conversation;
}
