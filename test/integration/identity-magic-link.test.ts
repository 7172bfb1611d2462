import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { sql } from "slonik";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { silentLog } from "../../src/base/log.ts";
import { FolderMail, SmtpMail } from "../../src/tenancy/accounts/mail.ts";
import { HttpFixture } from "../support/http-fixture.ts";
import { MailServer } from "../support/mail-server.ts";
import { until } from "../support/until.ts";

const MINUTE = 60_000;
const FROM = "Voice <voice@example.org>";

describe("magic links over HTTP", () => {
  let fixture: HttpFixture;
  let server: MailServer;
  let smtp: SmtpMail;

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    server = await MailServer.start();
    smtp = new SmtpMail(server.url, FROM);
    fixture.accounts.mail = smtp;
  });

  afterAll(async () => {
    smtp.close();
    await fixture.close();
    await server.stop();
  });

  afterEach(() => {
    server.received.length = 0;
    // Budgets are whole again.
    fixture.accounts.clock.advance(60 * MINUTE);
  });

  function request(email: string) {
    return fixture.call("POST", "/auth/request-magic-link", { body: { email } });
  }

  function validate(token: string | undefined) {
    return fixture.call("POST", "/auth/validate-magic-link", { body: { token } });
  }

  /** The token in the newest letter, as a reader of it finds it. */
  async function received(count = 1): Promise<string> {
    await until(() => server.received.length >= count, "the mail", 10_000);
    return tokenIn(server.received.at(-1)?.text ?? "");
  }

  function tokenIn(letter: string): string {
    const text = letter.replaceAll("=\r\n", "").replaceAll("=3D", "=");
    const [, token = ""] = /#\/sign-in\?token=([0-9A-Za-z]{43})\b/.exec(text) ?? [];
    return token;
  }

  it("flow: the link arrives by SMTP, signs in once, and no refresh token comes with it", async () => {
    const { id, email } = await fixture.accounts.addUser("moderator");
    const asked = await request(email.toUpperCase());
    expect([asked.status, asked.body.success]).toEqual([200, true]);
    const token = await received();
    expect(server.received[0]).toMatchObject({ from: "voice@example.org", to: [email] });
    const signedIn = await validate(token);
    expect(signedIn.status).toBe(200);
    expect(signedIn.headers.get("cache-control")).toBe("no-store");
    const user = { id, email, role: "moderator" };
    expect(signedIn.body).toEqual({ token: expect.any(String), user });
    const me = await fixture.call("GET", "/auth/me", { bearer: String(signedIn.body.token) });
    expect(me.body).toMatchObject(user);
    const again = await validate(token);
    expect([again.status, again.headers.get("x-error-code")]).toEqual([401, "invalid_token"]);
  });

  it("at rest: the token stands nowhere in the clear", async () => {
    await request((await fixture.accounts.addUser()).email);
    const token = await received();
    const rows = await fixture.accounts.pool.any(sql.type(z.object({ line: z.string() }))`
      select t::text as line from magic_links as t`);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.some(({ line }) => line.includes(token))).toBe(false);
  });

  it("unknown and disabled: the same answer, no letter", async () => {
    const { id, email } = await fixture.accounts.addUser();
    const known = await request(email);
    await received();
    await fixture.accounts.users.setDisabled(id, true);
    const disabled = await request(email);
    const unknown = await request("nobody@example.org");
    expect([unknown.status, disabled.status]).toEqual([200, 200]);
    expect(unknown.body).toEqual(known.body);
    expect(disabled.body).toEqual(known.body);
    await fixture.accounts.background.idle();
    expect(server.received).toHaveLength(1);
  });

  it("time: a slow mail server keeps nobody waiting", async () => {
    const { email } = await fixture.accounts.addUser();
    let sent = false;
    fixture.accounts.mail = {
      send: async (letter) => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await smtp.send(letter);
        sent = true;
      },
    };
    expect((await request(email)).status).toBe(200);
    expect(sent).toBe(false);
    await received();
    fixture.accounts.mail = smtp;
  });

  it("failure: mail that cannot be sent changes no answer", async () => {
    const { email } = await fixture.accounts.addUser();
    fixture.accounts.mail = new SmtpMail("smtp://127.0.0.1:9", FROM);
    expect((await request(email)).status).toBe(200);
    await fixture.accounts.background.idle();
    fixture.accounts.mail = smtp;
    await request(email);
    expect((await validate(await received())).status).toBe(200);
  });

  it("failure: a mail server without TLS gets nothing where TLS is demanded", async () => {
    const { email } = await fixture.accounts.addUser();
    const strict = new SmtpMail(`${server.url}/?ignoreTLS=true`, FROM, { requireTLS: true });
    const letter = { to: email, subject: "S", text: "T", html: "<p>T</p>" };
    await expect(strict.send(letter)).rejects.toThrow(/STARTTLS/);
    strict.close();
    expect(server.received).toEqual([]);
    await smtp.send(letter);
    expect(server.received).toHaveLength(1);
  });

  it("expiry: 10 min; and a use, a disable in between, ends the other links", async () => {
    const { id, email } = await fixture.accounts.addUser();
    await request(email);
    const late = await received();
    fixture.accounts.clock.advance(10 * MINUTE);
    expect((await validate(late)).status).toBe(401);
    await request(email);
    const second = await received(2);
    await request(email);
    const third = await received(3);
    expect((await validate(third)).status).toBe(200);
    expect((await validate(second)).status).toBe(401);
    await request(email);
    const fourth = await received(4);
    await fixture.accounts.users.setDisabled(id, true);
    expect((await validate(fourth)).status).toBe(401);
    await fixture.accounts.users.setDisabled(id, false);
    expect((await validate(fourth)).status).toBe(401);
  });

  it("race: of twenty that use one link at once one gets in", async () => {
    await request((await fixture.accounts.addUser()).email);
    const token = await received();
    const answers = await Promise.all(Array.from({ length: 20 }, () => validate(token)));
    const statuses = answers.map((answer) => answer.status).sort();
    expect(statuses).toEqual([200, ...Array(19).fill(401)]);
  });

  it("limits: five letters to one address, known or not, then 429; thirty requests of one caller", async () => {
    const { email } = await fixture.accounts.addUser();
    for (const address of [email, "nobody@example.org"]) {
      const statuses: number[] = [];
      for (let n = 0; n < 6; n += 1) statuses.push((await request(address)).status);
      expect(statuses).toEqual([...Array(5).fill(200), 429]);
    }
    const refused = await request(email);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const statuses: number[] = [];
    for (let n = 0; n < 20; n += 1) statuses.push((await request(`n${n}@example.org`)).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses.filter((status) => status === 200)).toHaveLength(30 - 13);
    await fixture.accounts.background.idle();
  });

  it("bodies: 400 without an address or token; 401 for a token that is none", async () => {
    for (const body of [{}, { email: 7 }]) {
      expect((await fixture.call("POST", "/auth/request-magic-link", { body })).status).toBe(400);
    }
    expect((await validate(undefined)).status).toBe(400);
    expect((await validate("nonsense")).status).toBe(401);
    const kind = sql.type(z.object({ detail: z.unknown() }));
    const failed = await fixture.accounts.pool.any(kind`
      select detail from audit_log where kind = 'login_failed' order by seq desc limit 1`);
    expect(failed).toEqual([
      { detail: { reason: "bad_link", address: expect.stringMatching(/^[0-9a-f]{32}$/) } },
    ]);
  });

  it("folder: without a mail server the letter is a file that only its owner can read", async () => {
    const folder = join(fixture.accounts.folder, "mail");
    const paths: string[] = [];
    const info = (fields: object) => paths.push((fields as { path: string }).path);
    fixture.accounts.mail = new FolderMail(folder, FROM, { ...silentLog, info });
    const { email } = await fixture.accounts.addUser();
    await request(email);
    await fixture.accounts.background.idle();
    const [name = ""] = readdirSync(folder);
    const path = join(folder, name);
    expect(paths).toEqual([path]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const letter = readFileSync(path, "utf8");
    expect(letter).toContain(`To: ${email}`);
    // As a person copies it from the file.
    const [, token = ""] = /\btoken=([\w-]{43})&email=\S+\r$/m.exec(letter) ?? [];
    expect((await validate(token)).status).toBe(200);
    fixture.accounts.mail = smtp;
  });
});
