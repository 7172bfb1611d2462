import pg from "pg";
import { sql } from "slonik";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../../src/base/ids.ts";
import type { MailMessage } from "../../../src/tenancy/accounts/mail.ts";
import { AttackedService, type Person as SignedIn } from "../../support/attacked-service.ts";
import { type Answer, HttpFixture } from "../../support/http-fixture.ts";

type Body = Record<string, unknown>;
type Person = { id: string; email: string; token: string };

/** What differs from answer to answer, whatever was asked. */
const OWN_TO_EACH = new Set(["date", "x-request-id", "ratelimit-remaining", "ratelimit-reset"]);

describe("somebody who wants to learn who has an account", () => {
  let fixture: HttpFixture;
  let asker: Person;
  let stranger: Person;
  let colleague: Person;
  let disabled: Person;
  let workspaceId: string;
  let sessionId: string;
  const letters: MailMessage[] = [];

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    fixture.accounts.mail = {
      send: async (letter) => {
        letters.push(letter);
      },
    };
  });
  afterAll(() => fixture.close());
  beforeEach(async () => {
    asker = await person();
    stranger = await person();
    colleague = await person();
    disabled = await person();
    workspaceId = await fixture.accounts.addWorkspace(asker.id);
    sessionId = await fixture.accounts.addSession(asker.id, workspaceId);
    await fixture.accounts.join(workspaceId, colleague.id);
    await fixture.accounts.pool.query(
      sql.unsafe`update users set disabled_at = now() where id = ${disabled.id}`,
    );
    letters.length = 0;
  });

  async function person(): Promise<Person> {
    const { id, email } = await fixture.accounts.addUser();
    return { id, email, token: await fixture.signIn(email) };
  }

  const places = () => [`/workspaces/${workspaceId}`, `/sessions/${sessionId}`];

  function ask(method: string, path: string, body?: Body, bearer = asker.token): Promise<Answer> {
    return fixture.call(method, path, body === undefined ? { bearer } : { bearer, body });
  }

  const shown = ({ status, headers, body }: Answer) => ({
    status,
    body,
    headers: [...headers].filter(([name]) => !OWN_TO_EACH.has(name)),
  });

  async function pending(place: string): Promise<Body[]> {
    const { status, body } = await ask("GET", `${place}/invitations`);
    expect(status).toBe(200);
    return body.items as Body[];
  }

  it("gets the same answer for every address: unknown, known, disabled, a member's, the own", async () => {
    const unknown = `${newId()}@example.org`;
    for (const place of places()) {
      const known = [stranger, disabled, colleague, asker].map(({ email }) => email);
      const answers: object[] = [];
      for (const email of [unknown, ...known]) {
        answers.push(shown(await ask("POST", `${place}/members`, { email })));
      }
      expect(answers[0]).toMatchObject({ status: 202, body: { status: "invited" } });
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      // Nor does what happened leave other traces: each is pending, and each was written to.
      expect((await pending(place)).map((each) => Object.keys(each).sort())).toEqual(
        Array(5).fill(["created_at", "expires_at", "id", "invited_by", "role", "to_email"]),
      );
    }
    await fixture.accounts.background.idle();
    const lengths = new Map<string, number>();
    for (const { to } of letters) lengths.set(to, (lengths.get(to) ?? 0) + 1);
    const everybody = [
      unknown,
      ...[stranger, disabled, colleague, asker].map(({ email }) => email),
    ];
    expect(lengths).toEqual(new Map(everybody.map((email) => [email, 2])));
  });

  it("finds no difference in the work before the answer: the record is asked the same for all", async () => {
    const unknown = { email: `${newId()}@example.org` };
    const people = [stranger, disabled, colleague, asker].map(({ email }) => ({ email }));
    const ids = [newId(), stranger.id, disabled.id].map((user_id) => ({ user_id }));
    // Letters wait meanwhile, so that what they ask is not among it.
    const letGo = holdLetters();
    try {
      for (const place of places()) {
        for (const [first, ...others] of [[unknown, ...people], ids]) {
          // Its answer only opens the connections.
          await ask("POST", `${place}/members`, first);
          const expected = await statementsOf(() => ask("POST", `${place}/members`, first));
          expect(expected.some((text) => text.includes("insert into invitations"))).toBe(true);
          for (const body of others) {
            const asked = await statementsOf(() => ask("POST", `${place}/members`, body));
            expect(asked).toEqual(expected);
          }
        }
      }
    } finally {
      letGo();
    }
  });

  function holdLetters(): () => void {
    let resolve = () => {};
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    for (let place = 0; place < 4; place += 1) {
      fixture.accounts.background.start("held", () => promise);
    }
    return resolve;
  }

  /** Every statement that PostgreSQL is sent meanwhile, in their order, without values. */
  async function statementsOf(work: () => Promise<Answer>): Promise<string[]> {
    const texts: string[] = [];
    const original = pg.Client.prototype.query;
    pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
      const [query] = given as [string | { text?: string }];
      texts.push((typeof query === "string" ? query : (query.text ?? "")).replace(/\s+/g, " "));
      return Reflect.apply(original, this, given);
    } as typeof original;
    try {
      expect((await work()).status).toBe(202);
    } finally {
      pg.Client.prototype.query = original;
    }
    return texts;
  }

  it("gets the same answer for every id of people whom they do not know, and nothing of them", async () => {
    for (const place of places()) {
      const answers: object[] = [];
      for (const user_id of [newId(), stranger.id, disabled.id]) {
        answers.push(shown(await ask("POST", `${place}/members`, { user_id })));
      }
      expect(answers[0]).toMatchObject({ status: 202, body: { status: "invited" } });
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(JSON.stringify(await pending(place))).not.toContain(stranger.email);
      const members = await ask("GET", `${place}/members`);
      expect(JSON.stringify(members.body)).not.toContain(stranger.email);
    }
  });

  it("puts nobody into a place unasked", async () => {
    for (const place of places()) {
      await ask("POST", `${place}/members`, { email: stranger.email });
      await ask("POST", `${place}/members`, { user_id: stranger.id });
      expect((await ask("GET", place, undefined, stranger.token)).status).toBe(403);
    }
    const mine = await ask("GET", "/workspaces", undefined, stranger.token);
    expect(mine.body.items).toEqual([]);
  });

  it("does not learn that an account declined: it stays pending until its time is over", async () => {
    for (const place of places()) {
      await ask("POST", `${place}/members`, { user_id: stranger.id });
      const before = await pending(place);
      const { items } = (await ask("GET", "/invitations", undefined, stranger.token)).body;
      const [invitation] = items as Body[];
      const decline = `/invitations/${invitation?.id}/decline`;
      expect((await ask("POST", decline, undefined, stranger.token)).status).toBe(200);
      expect(await pending(place)).toEqual(before);
    }
  });

  it("learns of an invitation's id nothing, unless it is to them: 404 as for no id at all", async () => {
    await ask("POST", `${places()[0]}/members`, { user_id: stranger.id });
    const [{ id }] = (await pending(places()[0] ?? "")) as [Body];
    for (const each of [id, newId()]) {
      for (const deed of ["accept", "decline"]) {
        const answer = await ask(
          "POST",
          `/invitations/${each}/${deed}`,
          undefined,
          colleague.token,
        );
        expect([answer.status, answer.body.message]).toEqual([
          404,
          "There is no invitation with this id.",
        ]);
      }
    }
  });
});

describe("the owner of a session who assigns its voices to people", () => {
  let service: AttackedService;
  let owner: SignedIn;
  let workspaceId: string;
  let sessionId: string;

  beforeAll(async () => {
    service = await AttackedService.open();
  });
  afterAll(() => service?.close());
  beforeEach(async () => {
    owner = await service.addUser();
    workspaceId = await service.addWorkspace(owner.id);
    sessionId = await service.addTold(workspaceId, owner.id, [{ label: "S1", text: "hello" }]);
  });

  async function assign(userId: string, by = owner) {
    const { status, code, text } = await service.call(
      "POST",
      `/sessions/${sessionId}/speaker-claims`,
      by.headers,
      { speaker_label: "S1", source: "moderator_assignment", assigned_user_id: userId },
    );
    return { status, code, text };
  }

  /** All that the session tells its owner of its speakers. */
  async function told(): Promise<string> {
    const paths = ["speakers", "transcript?format=json", "transcript?format=txt", "segments"];
    const answers = await Promise.all(
      paths.map((path) => service.call("GET", `/sessions/${sessionId}/${path}`, owner.headers)),
    );
    return answers.map(({ text }) => text).join("\n");
  }

  it("learns of an id of a stranger, who may be disabled or of another session, as much as of none", async () => {
    const stranger = await service.addUser();
    const disabled = await service.addUser();
    await service.join(workspaceId, disabled.id, "member");
    await service.sql("update users set disabled_at = now() where id = $1", [disabled.id]);
    const elsewhere = await service.addUser();
    const other = await service.addTold(workspaceId, owner.id, []);
    await service.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'participant')",
      [other, elsewhere.id],
    );
    await service.sql("update users set name = 'Known Only To Friends' where id = any($1)", [
      [stranger.id, disabled.id, elsewhere.id],
    ]);
    const unknown = await assign(newId());
    expect(unknown).toMatchObject({ status: 404, code: "not_found" });
    for (const { id } of [stranger, disabled, elsewhere]) {
      expect(await assign(id)).toEqual(unknown);
    }
    expect(await told()).not.toContain("Known Only To Friends");
  });

  it("gives a voice to whom they share a workspace or the session with, and to themselves", async () => {
    const [colleague, participant, guestOfWorkspace] = [
      await service.addUser(),
      await service.addUser(),
      await service.addUser(),
    ];
    const second = await service.addWorkspace(colleague.id);
    await service.join(second, owner.id, "member");
    await service.sql(
      "insert into session_members (session_id, user_id, relation) values ($1, $2, 'participant')",
      [sessionId, participant.id],
    );
    await service.join(workspaceId, guestOfWorkspace.id, "member");
    for (const { id } of [owner, colleague, participant, guestOfWorkspace]) {
      expect((await assign(id)).status).toBe(200);
    }
  });

  it("gives no voice to those of a workspace that they left, unless it shares the session", async () => {
    const member = await service.addUser();
    await service.join(workspaceId, member.id, "member");
    await service.sql("delete from workspace_members where user_id = $1", [owner.id]);
    expect((await assign(member.id)).status).toBe(404);
    await service.sql("update sessions set visibility = 'workspace' where id = $1", [sessionId]);
    expect((await assign(member.id)).status).toBe(200);
  });

  it("sees no part of the address of who gave no name", async () => {
    const nameless = await service.addUser("participant", `secret.person.${newId()}@example.org`);
    await service.join(workspaceId, nameless.id, "member");
    await service.sql("update users set name = '' where id = $1", [nameless.id]);
    expect((await assign(nameless.id)).status).toBe(200);
    const text = await told();
    expect(text).toContain(nameless.id);
    expect(text).not.toContain("secret.person");
    expect(text).toMatch(/^\[00:00\] Speaker 1: hello/m);
  });
});
