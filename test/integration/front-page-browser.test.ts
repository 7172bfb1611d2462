import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SmtpMail } from "../../src/tenancy/accounts/mail.ts";
import { openChromium } from "../support/chromium.ts";
import { HttpFixture } from "../support/http-fixture.ts";
import { MailServer } from "../support/mail-server.ts";
import { until } from "../support/until.ts";

const NEVER = "x".repeat(43);

describe("first address in a browser", () => {
  let fixture: HttpFixture;
  let mails: MailServer;
  let smtp: SmtpMail;
  let browser: Browser;

  beforeAll(async () => {
    fixture = await HttpFixture.open();
    mails = await MailServer.start();
    smtp = new SmtpMail(mails.url, "Voice <voice@example.org>");
    fixture.accounts.mail = smtp;
    browser = await openChromium();
  });
  afterAll(async () => {
    await browser?.close();
    smtp?.close();
    await fixture?.close();
    await mails?.stop();
  });

  /** A page whose errors, those of its policy above all, fail the test that asks for them. */
  async function open(path: string, errors: string[] = []): Promise<Page> {
    const page = await browser.newPage();
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (line) => {
      if (line.type() === "error") errors.push(line.text());
    });
    await page.goto(new URL(path, fixture.url).href);
    return page;
  }

  /** The token of the newest letter, whose link names the account. */
  async function mailed(): Promise<string> {
    await until(() => mails.received.length > 0, "the mail", 10_000);
    const text = (mails.received.pop()?.text ?? "").replaceAll("=\r\n", "").replaceAll("=3D", "=");
    return /#\/sign-in\?token=([0-9A-Za-z]{43})&email=/.exec(text)?.[1] ?? "";
  }

  async function linkFor(email: string): Promise<string> {
    await fixture.call("POST", "/auth/request-magic-link", { body: { email } });
    return linkWith(await mailed(), email);
  }

  function linkWith(token: string, email: string): string {
    return new URL(`/#/sign-in?token=${token}&email=${encodeURIComponent(email)}`, fixture.url)
      .href;
  }

  /** Signs in by the link of a letter, as the person who opens it and is asked. */
  async function follow(page: Page, link: string, email: string): Promise<void> {
    await page.goto(link);
    await page.getByRole("button", { name: `Sign in as ${email}` }).click();
  }

  it("signs in with a mailed link, whose token leaves address bar and history at once", async () => {
    const { email } = await fixture.accounts.addUser("moderator");
    const errors: string[] = [];
    const page = await open("/", errors);
    await page.getByLabel("E-mail").fill(email);
    await page.getByRole("button", { name: "Send me a sign-in link" }).click();
    await page.getByText("a sign-in link is on its way").waitFor();
    const link = linkWith(await mailed(), email);
    await follow(page, link, email);
    await page.getByText(`You are signed in as ${email} (moderator).`).waitFor();
    expect(page.url()).toBe(new URL("/", fixture.url).href);
    await page.goBack();
    expect(page.url()).not.toContain("token");
    const again = await open("/", errors);
    await follow(again, link, email);
    await again.getByText("This link was used before, or its 10 minutes are over.").waitFor();
    expect(await again.getByRole("button", { name: "Send me a sign-in link" }).isVisible()).toBe(
      true,
    );
    // Answers that are errors are told there as well; what matters is the page's own.
    expect(errors.filter((text) => !text.startsWith("Failed to load resource"))).toEqual([]);
  });

  it("signs nobody in as somebody else by a link, unless they say so", async () => {
    const [alice, mallory] = [await fixture.accounts.addUser(), await fixture.accounts.addUser()];
    const page = await open("/");
    await follow(page, await linkFor(alice.email), alice.email);
    await page.getByText(`You are signed in as ${alice.email}`).waitFor();
    const who = async () => {
      await page.getByRole("button", { name: "Your account" }).click();
      const said = await page
        .getByText(/@example\.org/)
        .first()
        .textContent();
      await page.keyboard.press("Escape");
      return said;
    };
    expect(await who()).toContain(alice.email);

    const token = await fixture.signIn(mallory.email);
    await page.goto(new URL(`/#token=${token}`, fixture.url).href);
    await page.getByText("was not begun in this tab").waitFor();
    expect(page.url()).not.toContain("token");
    expect(await who()).toContain(alice.email);

    await page.goto(await linkFor(mallory.email));
    await page.getByText(`You are signed in as ${alice.email} now`).waitFor();
    await page.getByRole("button", { name: "Do not sign in" }).click();
    expect(await who()).toContain(alice.email);

    await fixture.call("POST", "/auth/request-magic-link", { body: { email: mallory.email } });
    await follow(page, linkWith(await mailed(), alice.email), alice.email);
    await page.getByText(`This link is not one of ${alice.email}.`).waitFor();
    expect(await who()).toContain(alice.email);
  });

  it("takes the way back from an identity provider in the tab that left for it", async () => {
    const { email } = await fixture.accounts.addUser();
    const token = await fixture.signIn(email);
    const page = await open("/");
    await page.evaluate("sessionStorage.setItem('voice.return-nonce', 'abc')");
    await page.goto(new URL(`/?returned=abc#token=${token}`, fixture.url).href);
    await page.getByText(`You are signed in as ${email}`).waitFor();
    expect(page.url()).toBe(new URL("/", fixture.url).href);
  });

  it("hands out a token that works, and says how to go on in a terminal", async () => {
    const { email, id } = await fixture.accounts.addUser();
    const page = await open("/");
    await follow(page, await linkFor(email), email);
    await page.getByRole("button", { name: "Your account" }).click();
    await page.getByRole("link", { name: "Terminal and API" }).click();
    const token = await page.getByLabel("Access token").inputValue();
    const me = await fixture.call("GET", "/auth/me", { bearer: token });
    expect(me.body).toMatchObject({ id, email });
    expect(await page.getByText(`npx voice login --base-url ${fixture.url}`).isVisible()).toBe(
      true,
    );
    await page.getByRole("heading", { name: "Terminal and API", level: 1 }).waitFor();
  });

  it("shows whoever signed in what they are invited to, and lets them accept or decline", async () => {
    const owner = await fixture.accounts.addUser();
    const bearer = await fixture.signIn(owner.email);
    const workspaceId = await fixture.accounts.addWorkspace(owner.id);
    const sessionId = await fixture.accounts.addSession(owner.id, workspaceId);
    const { email } = await fixture.accounts.addUser();
    for (const place of [`/workspaces/${workspaceId}`, `/sessions/${sessionId}`]) {
      await fixture.call("POST", `${place}/members`, { bearer, body: { email } });
    }
    await fixture.accounts.background.idle();
    const letter = (mails.received.pop()?.text ?? "").replaceAll("=\r\n", "");
    expect(letter).toContain("https://voice.test/#/invitations");
    mails.received.length = 0;
    const errors: string[] = [];
    const page = await open("/#/invitations", errors);
    await page.getByText("To see your invitation, have a sign-in link sent").waitFor();
    await follow(page, await linkFor(email), email);
    await page.getByText("You have 2 invitations.").waitFor();
    await page.getByRole("link", { name: "See and answer" }).click();
    const toSession = page
      .getByRole("listitem")
      .filter({ hasText: "Somebody invites you to a recorded conversation, as shared." });
    const toWorkspace = page
      .getByRole("listitem")
      .filter({ hasText: "Somebody invites you to the workspace “Team”, as member." });
    await toSession.getByRole("button", { name: "Decline" }).click();
    await page.getByText("The invitation is declined.").waitFor();
    await toSession.waitFor({ state: "hidden" });
    await toWorkspace.getByRole("button", { name: "Accept" }).click();
    await page.getByText("You are a member now.").waitFor();
    await page.getByText("No open invitations").waitFor();
    const members = await fixture.call("GET", `/workspaces/${workspaceId}/members`, { bearer });
    expect(members.body.items).toHaveLength(2);
    expect(errors.filter((text) => !text.startsWith("Failed to load resource"))).toEqual([]);
  });

  it("fits a phone, and reads in the light and in the dark", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme });
      await follow(page, linkWith(NEVER, "nobody@example.org"), "nobody@example.org");
      await page.getByText("This link was used before").waitFor();
      const wider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
      expect(wider).toBe(false);
      const text = await page.evaluate("getComputedStyle(document.body).color");
      expect(text).toBe(colorScheme === "light" ? "rgb(27, 28, 31)" : "rgb(236, 236, 238)");
    }
  });
});
