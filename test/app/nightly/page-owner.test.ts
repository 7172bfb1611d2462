import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../../support/app-fixture.ts";
import { PageWalk } from "../../support/page-walk.ts";
import { adminToken, call } from "../../support/paired-device.ts";
import { until } from "../../support/until.ts";
import { verify, WebhookReceiver } from "../../support/webhook-receiver.ts";

const PASSWORD = "correct horse battery staple";
/** A name that would be markup, if it ever were read as such. */
const RECORDER = "<b>Recorder</b>";

interface Person {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly token: string;
}

describe("page of an owner over the whole service", () => {
  let service: AppFixture;
  let walk: PageWalk;
  let receiver: WebhookReceiver;
  let owner: Person;
  let colleague: Person;
  let page: Page;
  let workspaceId = "";
  let device: { id: string; key: string };

  beforeAll(async () => {
    service = await AppFixture.start({
      WEBHOOK_ALLOW_PRIVATE: "1",
      INVITED_SIGN_UP: "invited",
    });
    walk = await PageWalk.start(service.ready.base_url);
    receiver = await WebhookReceiver.open();
    const admin = await adminToken(service);
    owner = await newPerson(admin, "Olga");
    colleague = await newPerson(admin, "Carl");
    const made = await done<{ id: string }>("POST", "/workspaces", {
      token: owner.token,
      body: { name: "Ensemble" },
    });
    workspaceId = made.id;
    const member = { user_id: colleague.id, role: "owner" };
    await done("POST", `/workspaces/${workspaceId}/members`, { token: owner.token, body: member });
    const { token } = colleague;
    const { items } = await done<{ items: { id: string }[] }>("GET", "/invitations", { token });
    await done("POST", `/invitations/${items[0]?.id}/accept`, { token });
  });
  afterEach(({ task }) => walk.explain(task));
  afterAll(async () => {
    await walk?.stop();
    await receiver?.close();
    await service?.stop();
  });

  async function done<T>(method: string, path: string, options: Parameters<typeof call>[3] = {}) {
    const { status, body } = await call<T>(service.api, method, path, options);
    expect([method, path, status < 300, body]).toEqual([method, path, true, body]);
    return body;
  }

  async function newPerson(token: string, name: string): Promise<Person> {
    const email = `${name.toLowerCase()}@example.org`;
    const body = { email, password: PASSWORD, role: "participant", name };
    const { id } = await done<{ id: string }>("POST", "/users", { token, body });
    const login = { body: { email, password: PASSWORD } };
    const signedIn = await done<{ token: string }>("POST", "/auth/login", login);
    return { id, email, password: PASSWORD, token: signedIn.token };
  }

  /** The first link in the newest letter to the address. */
  async function letterLink(address: string): Promise<string> {
    const folder = join(service.folder, "data", "mail");
    let link = "";
    await until(async () => {
      for (const file of readdirSync(folder)) {
        const text = readFileSync(join(folder, file), "utf8");
        if (text.includes(`To: ${address}`)) link = /^http\S+token=\S+$/m.exec(text)?.[0] ?? link;
      }
      return link !== "";
    }, "the letter");
    return link;
  }

  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  /** What has the focus, by its text or label. */
  const focused = () =>
    page.evaluate(
      "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()",
    );
  const row = (name: string) => page.getByRole("listitem").filter({ hasText: name }).first();
  async function choose(of: string, what: string): Promise<void> {
    await button(`What to do with ${of}`).click();
    await button(what).click();
  }
  const beat = (key: string, id: string, body: object) =>
    call(service.api, "POST", `/devices/${id}/heartbeat`, { key, body });

  it("page: says what a device is to who has none, and takes no code that nobody shows", async () => {
    page = await walk.newPerson();
    await walk.signIn(page, owner);
    await page.getByRole("link", { name: "Devices", exact: true }).click();
    await page.getByText("No device yet").waitFor();
    await walk.inspect(page, "devices-empty");
    await button("Pair a device").first().click();
    const code = page.getByLabel("Code on the device");
    await page.locator(".pairing-code:focus").waitFor();
    await code.fill("bcdfghjk");
    await button("Pair it").click();
    await page.getByRole("alert").getByText(/code/).waitFor();
    expect(await code.inputValue()).toBe("BCDF-GHJK");
    await walk.inspect(page, "devices-pair");
    await page.keyboard.press("Escape");
    expect(await focused()).toBe("Pair a device");
  });

  it("page: pairs the device of a link, and says when it is there", async () => {
    const published = await done<Record<string, string>>("POST", "/devices/pairing-codes", {
      body: { device_serial: randomUUID(), name: RECORDER, model: "Recorder 2" },
    });
    await walk.goTo(page, `/devices/pair/${published.code}`);
    await page.getByText("The device waits for you.").waitFor();
    await button("Pair it").click();
    await page.getByText(`“${RECORDER}” is paired.`).waitFor();
    await walk.inspect(page, "devices-first-sign");
    const claimed = await done<Record<string, string>>("POST", "/devices/pair/claim-auth", {
      token: published.pairing_secret ?? "",
    });
    device = { id: published.device_id ?? "", key: claimed.api_key ?? "" };
    await beat(device.key, device.id, { battery_percent: 17, firmware: "2.0.1", rssi_dbm: -61 });
    await page.getByText(`“${RECORDER}” has its key and is online.`).waitFor();
    await button("Done").click();
    await row(RECORDER).getByText("Online").waitFor();
    await row(RECORDER).getByText("17 %").waitFor();
    await row(RECORDER).getByText("paired by you").waitFor();
    await walk.goTo(page, `/devices/pair/${published.code}`);
    await page.getByText("This code was used").waitFor();
    await page.keyboard.press("Escape");
  });

  it("page: names a device, lets it read, and shows what it tells of itself", async () => {
    await choose(RECORDER, "Rename and rights");
    await page.getByLabel("Name", { exact: true }).fill("Rehearsal room");
    await page.getByLabel("It may read the words of what it records").check();
    await button("Save").click();
    await row("Rehearsal room").getByText("may read its words").waitFor();
    const kept = await done<Record<string, unknown>>("GET", `/devices/${device.id}`, {
      token: owner.token,
    });
    expect(kept).toMatchObject({ name: "Rehearsal room", may_read: true });
    await choose("Rehearsal room", "Details");
    await page.getByText("2.0.1").first().waitFor();
    await walk.inspect(page, "devices-details");
    await page.keyboard.press("Escape");
    expect(await focused()).toBe("What to do with Rehearsal room");
  });

  it("page: makes a program a device, whose key works and is shown once", async () => {
    await button("Pair a device").click();
    await button("It is a program").click();
    await page.getByLabel("Name", { exact: true }).fill("Importer");
    await button("Make its key").click();
    const id = await page.getByLabel("Device id", { exact: true }).inputValue();
    const key = await page.getByLabel(/^Key; it is shown this once/).inputValue();
    await page.getByText("As a QR code").click();
    await walk.inspect(page, "devices-key");
    expect((await beat(key, id, {})).status).toBe(200);
    await button("Done").click();
    await row("Importer").waitFor();
    await walk.inspect(page, "devices");
    expect(await page.content()).not.toContain(key);
    await choose("Importer", "Unpair");
    await walk.inspect(page, "devices-unpair");
    await button("Unpair “Importer”").click();
    await row("Importer").waitFor({ state: "detached" });
    await page.locator("h1:focus").waitFor();
    expect((await beat(key, id, {})).status).toBe(401);
  });

  it("page: keeps a workshop and its characters, and a session takes their names", async () => {
    await button("Your account").click();
    await page.getByRole("link", { name: "Workshops" }).click();
    await page.getByText("No workshop yet").waitFor();
    await button("New workshop").click();
    await page.getByLabel("Name", { exact: true }).fill("The Seagull");
    await page.getByLabel("Description").fill("Spring production");
    await page.getByRole("dialog").getByLabel("Workspace").selectOption({ label: "Ensemble" });
    await button("Make it").click();
    await page.getByRole("heading", { name: "The Seagull", level: 1 }).waitFor();
    for (const name of ["Nina", "Trigorin <i>"]) {
      await button("Add a character").click();
      await page.getByLabel("Name", { exact: true }).fill(name);
      await button("Add").click();
      await row(name).waitFor();
    }
    await page.getByLabel("Trigorin <i> is active").uncheck();
    await walk.inspect(page, "workshop");
    const started = await done<{ session_id: string }>(
      "POST",
      `/devices/${device.id}/session/start`,
      { key: device.key, body: { title: "Rehearsal" } },
    );
    await page.getByRole("link", { name: "All workshops" }).click();
    await page.getByRole("link", { name: "The Seagull" }).waitFor();
    await walk.inspect(page, "workshops");
    await walk.goTo(page, `/sessions/${started.session_id}`);
    await button("More").click();
    await button("Workshop").click();
    await page.getByRole("combobox", { name: /characters/ }).selectOption({ label: "The Seagull" });
    await button("Save").click();
    await page.getByText("The session has its workshop.").waitFor();
    const { suggested_names: names } = await done<{ suggested_names: string[] }>(
      "GET",
      `/sessions/${started.session_id}/speakers`,
      { token: owner.token },
    );
    expect(names).toEqual(["Nina"]);
    await walk.goTo(page, "/devices");
    await row("Rehearsal room").getByRole("link", { name: "Records now" }).waitFor();
    await done("POST", `/devices/${device.id}/session/stop`, { key: device.key, body: {} });
  });

  it("page: makes a key with chosen rights, changes its secret, and revokes it", async () => {
    await button("Your account").click();
    await page.getByRole("link", { name: "API keys" }).click();
    await page.getByText("No key yet").waitFor();
    await button("New key").click();
    await page.getByLabel("What is it for?").fill("Archive export");
    await page.getByRole("dialog").getByLabel("Workspace").selectOption({ label: "Ensemble" });
    await button("Make the key").click();
    await page.getByRole("alert").getByText("Choose what the key may do.").waitFor();
    await page.getByLabel(/^Read sessions/).check();
    await walk.inspect(page, "keys-new");
    await button("Make the key").click();
    const key = await page.getByLabel(/^Key “Archive export”/).inputValue();
    await walk.inspect(page, "keys-made");
    await button("Done").click();
    const status = async (path: string) => (await call(service.api, "GET", path, { key })).status;
    expect(await status("/sessions")).toBe(200);
    expect(await status(`/workspaces/${workspaceId}/webhooks`)).toBe(403);
    await row("Archive export").getByText("sessions:read").waitFor();
    await choose("Archive export", "New secret");
    await button("Make a new secret").click();
    const fresh = await page.getByLabel(/^New secret of/).inputValue();
    expect(fresh).not.toBe(key);
    await button("Done").click();
    await choose("Archive export", "Revoke");
    await button("Revoke “Archive export”").click();
    await row("Archive export").waitFor({ state: "detached" });
    await until(async () => (await status("/sessions")) === 401, "the key to be refused", 10_000);
  });

  it("page: takes over the key of somebody who has lost their right", async () => {
    const body = { workspace_id: workspaceId, name: "Carl's script", scopes: ["query"] };
    await done("POST", "/api-keys", { token: colleague.token, body });
    await done("PATCH", `/workspaces/${workspaceId}/members/${colleague.id}`, {
      token: owner.token,
      body: { role: "member" },
    });
    await page.getByLabel("State").selectOption({ label: "Suspended" });
    await row("Carl's script").getByText("Whoever made it has lost the right").waitFor();
    await walk.inspect(page, "keys-suspended");
    await choose("Carl's script", "Take over");
    await button("Take over").click();
    await row("Carl's script").getByText("Active").waitFor();
    await walk.inspect(page, "keys");
  });

  it("page: a webhook's messages arrive, are signed, and what failed is sent again", async () => {
    await walk.goTo(page, `/webhooks/${workspaceId}`);
    await page.getByText("No webhook here yet").waitFor();
    await button("New webhook").click();
    await page.getByLabel(/^Address/).fill("http://169.254.169.254/latest");
    await button("Make the webhook").click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel(/^Address/).fill(receiver.url);
    await page.getByLabel("It is told of").selectOption("some");
    await page.getByLabel(/session\.completed/).check();
    await walk.inspect(page, "webhooks-new");
    await button("Make the webhook").click();
    const secret = await page.getByLabel(/^Signing secret/).inputValue();
    await page.getByRole("link", { name: "Open it, and send a test" }).click();
    await page.getByText("Nothing was sent yet").waitFor();
    await button("Send a test").click();
    const log = page.locator(".deliveries");
    await log.getByText("Arrived").waitFor();
    const [first] = receiver.received;
    expect(first?.message.type).toBe("webhook.test");
    if (first) verify(first, secret);
    receiver.reply = () => ({ status: 503 });
    await button("Send a test").click();
    const failing = page.getByRole("listitem").filter({ hasText: "503: the answer was no 2xx" });
    await failing.first().locator("summary").click();
    await walk.inspect(page, "webhook");
    receiver.reply = () => ({ status: 204 });
    await button("Send it again").click();
    await log.getByText("Arrived").nth(1).waitFor();
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids.at(-1)).toBe(ids[1]);
    expect(new Set(ids).size).toBe(2);
  });

  it("page: switches a webhook off and on, gives it a secret, deletes it", async () => {
    await button("Switch off").click();
    await button("Switch on").waitFor();
    expect(await button("Send a test").count()).toBe(0);
    await button("Switch on").click();
    await button("Send a test").waitFor();
    await button("More").click();
    await button("New secret").click();
    await button("Make a new secret").click();
    await page.getByLabel(/^Signing secret/).waitFor();
    await button("Done").click();
    await page.getByText("The secret before works until").waitFor();
    await page.getByRole("link", { name: "All webhooks" }).click();
    await page.getByRole("link", { name: receiver.url }).waitFor();
    await walk.inspect(page, "webhooks");
    await page.getByRole("link", { name: receiver.url }).click();
    await button("More").click();
    await button("Delete").click();
    await button("Delete it").click();
    await page.getByText("No webhook here yet").waitFor();
  });

  it("page: who is no owner is told so, and does not see what is not theirs", async () => {
    const member = await walk.newPerson();
    await walk.signIn(member, colleague);
    await walk.goTo(member, `/webhooks/${workspaceId}`);
    await member.getByText("Only an owner of the workspace").waitFor();
    await walk.goTo(member, "/keys");
    await member.getByText("No key yet").waitFor();
    await walk.goTo(member, "/devices");
    await member.getByText("paired by Olga").first().waitFor();
    await member.getByRole("button", { name: "What to do with Rehearsal room" }).click();
    await member.getByRole("button", { name: "Details" }).waitFor();
    expect(await member.getByRole("button", { name: "Unpair" }).count()).toBe(0);
  });

  it("page: who is invited opens the letter, has an account by it, and is in", async () => {
    const { token } = owner;
    const body = { workspace_id: workspaceId, title: "Board meeting" };
    const { id } = await done<{ id: string }>("POST", "/sessions", { token, body });
    await walk.goTo(page, `/sessions/${id}`);
    await button("Share").click();
    await page.getByLabel("Invite somebody by address").fill("nora@example.org");
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    // Its letters are files here, so that whoever invites has to tell the person.
    await page.getByText("this service sends no mail").waitFor();
    await walk.inspect(page, "share-unmailed");
    await page.keyboard.press("Escape");
    const link = await letterLink("nora@example.org");
    const invited = await walk.newPerson();
    await invited.goto(link);
    expect(invited.url()).not.toContain("token");
    await invited.getByRole("dialog", { name: "Open the invitation?" }).waitFor();
    await walk.inspect(invited, "invitation-opened");
    await invited.getByRole("button", { name: "Go on as nora@example.org" }).click();
    await invited.getByText("you are signed in as nora@example.org").waitFor();
    await invited.getByRole("button", { name: "Accept" }).click();
    await invited.getByText("No open invitations").waitFor();
    await invited.getByRole("link", { name: "Sessions", exact: true }).click();
    await invited.getByRole("link", { name: /Board meeting/ }).waitFor();
    // The same link again signs nobody in.
    const stranger = await walk.newPerson();
    await stranger.goto(link);
    await stranger.getByRole("button", { name: "Go on as nora@example.org" }).click();
    await stranger.getByText("This invitation was withdrawn").waitFor();
    await stranger.getByLabel("E-mail").waitFor();
  });

  it("page: without a network it says so, and goes on from there", async () => {
    await walk.goTo(page, "/keys");
    await row("Carl's script").waitFor();
    await page.context().setOffline(true);
    await walk.goTo(page, "/workshops");
    await page.getByRole("alert").getByText("The service does not answer.").waitFor();
    await walk.inspect(page, "workshops-offline");
    await page.context().setOffline(false);
    await button("Try again").click();
    await page.getByRole("link", { name: "The Seagull" }).waitFor();
    expect(walk.errors).toEqual([]);
  });
});
