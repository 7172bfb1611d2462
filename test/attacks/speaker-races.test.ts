import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService } from "../support/attacked-service.ts";

type Headers = Readonly<Record<string, string>>;

interface Racer {
  id: string;
  name: string;
  headers: Headers;
}

const LABELS = ["S1", "S2", "S3", "S4"];
const GUESTS = 12;
const MEMBERS = 6;

describe("many who claim one voice at once", () => {
  let service: AttackedService;
  let owner: { id: string; headers: Headers };
  let sessionId: string;
  let racers: Racer[];

  beforeAll(async () => {
    service = await AttackedService.open();
    owner = await service.addUser();
    const workspaceId = await service.addWorkspace(owner.id);
    const said = LABELS.map((label) => ({ label, text: `this is what ${label} said` }));
    sessionId = await service.addTold(workspaceId, owner.id, said);
    racers = [
      ...(await Promise.all(Array.from({ length: GUESTS }, (_, n) => addGuest(`Guest ${n}`)))),
      ...(await Promise.all(Array.from({ length: MEMBERS }, (_, n) => addMember(`Member ${n}`)))),
    ];
  });
  afterAll(() => service?.close());

  async function addGuest(name: string): Promise<Racer> {
    const body = { session_id: sessionId, display_name: name };
    const entered = await service.call("POST", "/auth/guest", {}, body);
    expect(entered.status).toBe(201);
    const { id } = entered.body.guest as { id: string };
    return { id, name, headers: { authorization: `Bearer ${entered.body.token}` } };
  }

  async function addMember(name: string): Promise<Racer> {
    const { id, headers } = await service.addUser();
    await service.sql("update users set name = $2 where id = $1", [id, name]);
    await service.sql(
      `insert into session_members (session_id, user_id, relation)
       values ($1, $2, 'participant')`,
      [sessionId, id],
    );
    return { id, name, headers };
  }

  it.each(LABELS)(
    "%s goes to exactly one of them, and to nobody else by asking again",
    async (label) => {
      const path = `/sessions/${sessionId}/speaker-claims`;
      const claim = { speaker_label: label, source: "self_claim" };
      const race = () =>
        Promise.all(racers.map(({ headers }) => service.call("POST", path, headers, claim)));
      const answers = await race();
      const winners = racers.filter((_, n) => answers[n]?.status === 200);
      expect(
        winners,
        JSON.stringify(answers.map(({ status, code }) => `${status} ${code}`)),
      ).toHaveLength(1);
      const others = answers.filter(({ status }) => status !== 200);
      expect(new Set(others.map(({ status, code }) => `${status} ${code}`))).toEqual(
        new Set(["409 already_claimed"]),
      );
      const [winner] = winners;
      const again = await race();
      expect(racers.filter((_, n) => again[n]?.status === 200)).toEqual([winner]);

      const speakers = await service.call("GET", `/sessions/${sessionId}/speakers`, owner.headers);
      expect(speakers.body.items).toContainEqual(
        expect.objectContaining({
          speaker_label: label,
          claimed_user_id: winner?.id,
          display_name: winner?.name,
        }),
      );
      const words = `/sessions/${sessionId}/transcript?format=txt`;
      const { text } = await service.call("GET", words, owner.headers);
      const line = text.split("\n").find((each) => each.includes(`what ${label} said`));
      expect(line).toContain(`${winner?.name}`);
      const claimed = await service.sql(
        "select from events where session_id = $1 and type = 'SpeakerClaimed' and payload ->> 'label' = $2",
        [sessionId, label],
      );
      expect(claimed).toHaveLength(1);
    },
  );
});
