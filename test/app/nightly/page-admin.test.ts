import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { AppFixture } from "../../support/app-fixture.ts";
import { PageWalk } from "../../support/page-walk.ts";
import { adminToken, call, PairedDevice, scriptedChunks } from "../../support/paired-device.ts";

const PASSWORD = "three-green-bottles-on-a-wall";
const OLGA = { email: "olga@example.org", password: PASSWORD };
const PAUL = { email: "paul@example.org", password: PASSWORD };
/** A name that would be markup, if it ever were read as such. */
const GUEST = "Gus <i>Guest</i>";
const REASON = "Complaint 4711: check what was transcribed";

/** On an installation of its own: the lists of jobs, users and audit entries hold everybody's. */
describe("page for administrators, and for the people of a session", () => {
  let service: AppFixture;
  let walk: PageWalk;
  let device: PairedDevice;
  let admin: Page;
  let olga: Page;
  let paul: Page;
  let guest: Page;
  let paulId: string;

  beforeAll(async () => {
    service = await AppFixture.start();
    walk = await PageWalk.start(service.ready.base_url);
    const token = await adminToken(service);
    for (const { email, password } of [OLGA, PAUL]) {
      const made = await call<{ id: string }>(service.api, "POST", "/users", {
        token,
        body: { email, password, name: email.split("@")[0], role: "participant" },
      });
      paulId = made.body.id;
    }
    device = await PairedDevice.pair(service, await workspaceOf(OLGA));
    await device.start();
    const chunks = scriptedChunks(2);
    for (const [sequence, pcm] of chunks.entries()) await device.upload(sequence, pcm);
    await device.stop(chunks.length - 1);
    await device.completed();
    admin = await walk.newPerson();
    await walk.signIn(admin, service.ready.admin);
    olga = await walk.newPerson();
    await walk.signIn(olga, OLGA);
  });
  afterEach(({ task }) => walk.explain(task));
  afterAll(async () => {
    await walk?.stop();
    await service?.stop();
  });

  /** The person's token, once they have a workspace. */
  async function workspaceOf({ email, password }: typeof OLGA): Promise<string> {
    const body = { email, password, remember_me: false };
    const { token } = (await call<{ token: string }>(service.api, "POST", "/auth/login", { body }))
      .body;
    await call(service.api, "POST", "/workspaces", {
      token,
      body: { name: "Olga's workshop", preferred_language: "en" },
    });
    return token;
  }

  it("admin page: shows what runs, and keeps the words of others hidden", async () => {
    await admin.getByRole("link", { name: "Admin", exact: true }).click();
    await admin.getByRole("heading", { name: "Workers" }).waitFor();
    await admin.getByText("alive").waitFor();
    await admin.getByText("available").waitFor();
    await walk.inspect(admin, "admin-overview");
    await admin.getByRole("link", { name: "Jobs" }).click();
    await admin.getByLabel("State").selectOption("failed");
    await admin.getByRole("heading", { name: "No job fits" }).waitFor();
    await admin.getByLabel("State").selectOption("completed");
    await admin.getByRole("link", { name: /^Transcription of/ }).waitFor();
    await walk.inspect(admin, "admin-jobs");
    await admin.getByRole("link", { name: /^Transcription of/ }).click();
    await admin.getByRole("heading", { name: "The words are hidden" }).waitFor();
    expect(await admin.getByText("hello everyone").count()).toBe(0);
    await walk.inspect(admin, "admin-job-hidden");
  });

  it("admin page: a reason opens the words for a while, and they go when it ends", async () => {
    await admin.getByRole("button", { name: "Give a reason" }).click();
    await admin.getByLabel("Reason").fill("short");
    await admin.getByRole("button", { name: "Show the content" }).click();
    // The browser itself refuses what is too short.
    await admin.getByRole("heading", { name: "Open the words of this session" }).waitFor();
    await admin.getByLabel("Reason").fill(REASON);
    await walk.inspect(admin, "admin-elevation");
    await admin.getByRole("button", { name: "Show the content" }).click();
    await admin.getByText("hello everyone").waitFor();
    const countdown = admin.getByRole("button", {
      name: /^Open to you \d\d:\d\d left/,
    });
    await countdown.waitFor();
    const first = await countdown.textContent();
    await expect
      .poll(async () => await countdown.textContent(), { timeout: 5_000 })
      .not.toBe(first);
    await walk.inspect(admin, "admin-job-open");
    await admin.getByRole("link", { name: "Session", exact: true }).click();
    await admin.locator("article .line-words").first().waitFor();
    await countdown.click();
    await admin.getByText(REASON).waitFor();
    await walk.inspect(admin, "admin-countdown");
    await admin.getByRole("button", { name: "End it now" }).click();
    await admin.getByRole("heading", { name: "The words are hidden" }).waitFor();
    expect(await admin.locator("article .line-words").count()).toBe(0);
    expect(await countdown.count()).toBe(0);
    await walk.inspect(admin, "session-hidden");
  });

  it("admin page: a page that is loaded anew still counts down what was opened before", async () => {
    await admin.getByLabel("Reason").fill(REASON);
    await admin.getByRole("button", { name: "Show the content" }).click();
    await admin.locator("article .line-words").first().waitFor();
    await admin.reload();
    await admin.getByRole("button", { name: /^Open to you/ }).click();
    await admin.getByRole("button", { name: "End it now" }).click();
    await admin.getByText("The content is hidden again.").waitFor();
  });

  it("admin page: redoes a transcription", async () => {
    await walk.goTo(admin, "/admin/jobs");
    await admin.getByRole("link", { name: /^Transcription of/ }).click();
    await admin.getByRole("button", { name: "Redo" }).click();
    await admin.getByLabel("Words to expect").fill("Robert\nReport");
    await walk.inspect(admin, "admin-redo");
    await admin.getByRole("dialog").getByRole("button", { name: "Redo" }).click();
    await admin.getByText("The session is being recognised once more.").waitFor();
    await admin.getByText("completed", { exact: true }).waitFor({ timeout: 60_000 });
  });

  it("admin page: makes a user, gives a role, takes the right to sign in and gives it back", async () => {
    await admin.getByRole("link", { name: "Users" }).click();
    await admin.getByRole("button", { name: "New user" }).click();
    const dialog = admin.getByRole("dialog");
    await dialog.getByLabel("E-mail").fill(PAUL.email);
    await dialog.getByLabel("First password").fill(PASSWORD);
    await dialog.getByRole("button", { name: "Make the account" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("E-mail").fill("mona@example.org");
    await dialog.getByLabel("Name", { exact: true }).fill("Mona <b>M</b>");
    await walk.inspect(admin, "admin-new-user");
    await dialog.getByRole("button", { name: "Make the account" }).click();
    await admin.getByText("Mona <b>M</b>").waitFor();
    await admin.getByRole("button", { name: "Edit Mona <b>M</b>" }).click();
    await dialog.getByLabel("Role").selectOption("moderator");
    await dialog.getByRole("button", { name: "Save" }).click();
    await admin.locator(".chip", { hasText: "moderator" }).waitFor();
    await admin.getByRole("button", { name: "Disable Mona <b>M</b>" }).click();
    await dialog.getByRole("button", { name: "Disable" }).click();
    await admin.getByText("disabled", { exact: true }).waitFor();
    await walk.inspect(admin, "admin-users");
    await admin.getByRole("button", { name: "Enable Mona <b>M</b>" }).click();
    await dialog.getByRole("button", { name: "Enable" }).click();
    await admin.getByText("disabled", { exact: true }).waitFor({ state: "detached" });
  });

  it("admin page: the audit log tells it all, and is whole", async () => {
    await admin.getByRole("link", { name: "Audit log" }).click();
    await admin.getByLabel("Kind of entry").selectOption("content_elevated");
    await admin.locator(".audit-entry", { hasText: "Content elevated" }).first().click();
    await admin.getByText(REASON).first().waitFor();
    await admin.getByRole("button", { name: "Verify the chain" }).click();
    await admin.getByText(/^All \d+ entries are right\./).waitFor();
    await walk.inspect(admin, "admin-audit");
    await admin.getByLabel("An end of the log that you kept").fill("4711:abc");
    await admin.getByText("It looks like 4711:").waitFor();
    await admin.getByLabel("An end of the log that you kept").fill(`1:${"0".repeat(64)}`);
    await admin.getByRole("button", { name: "Verify the chain" }).click();
    await admin.getByText(/is not right/).waitFor();
  });

  it("members page: a guest comes by a code and is removed, and stays out", async () => {
    await walk.goTo(olga, `/sessions/${device.sessionId}`);
    await olga.locator("article .line-words").first().waitFor();
    await olga.getByRole("button", { name: "Share" }).click();
    await olga.getByLabel("Guests, without an account").selectOption("invitation");
    await olga.getByRole("button", { name: "Make a guest link" }).click();
    const link = await olga.getByLabel("Guest link; it is shown this once").inputValue();
    await olga.getByText("0 came by it").waitFor();
    guest = await walk.newPerson();
    await guest.goto(link);
    await guest.getByLabel("Your name").fill(GUEST);
    await guest.getByRole("button", { name: "Join" }).click();
    await guest.locator("article .line-words").first().waitFor();
    await olga.getByText(GUEST, { exact: true }).waitFor();
    await walk.inspect(olga, "session-people");
    await olga.getByRole("button", { name: `Remove ${GUEST}` }).click();
    await walk.inspect(olga, "session-remove");
    await olga.getByRole("button", { name: "Remove", exact: true }).click();
    await olga.getByText(`${GUEST} is out.`).waitFor();
    await guest.locator("article .line-words").first().waitFor({ state: "detached" });
    await guest.getByRole("heading", { name: "Your visit is over" }).waitFor();
    await olga.getByLabel("Invite somebody by address").fill(PAUL.email);
    await olga.getByRole("button", { name: "Invite", exact: true }).click();
    await olga.getByText("Invited, without an answer yet").waitFor();
    await olga.getByRole("button", { name: `Take back the invitation of ${PAUL.email}` }).click();
    await olga.getByText("The invitation is taken back.").waitFor();
  });

  it("members page: whoever is signed in joins by a link, and comes back to their account", async () => {
    await olga.getByRole("button", { name: "Make a guest link" }).click();
    const link = await olga.getByLabel("Guest link; it is shown this once").inputValue();
    paul = await walk.newPerson();
    await walk.signIn(paul, PAUL);
    await walk.goTo(paul, new URL(link).hash.slice(1));
    await paul.getByRole("heading", { name: "Join a conversation" }).waitFor();
    await paul.getByLabel("Your name").fill("Paul");
    await walk.inspect(paul, "join");
    await paul.getByRole("button", { name: "Join" }).click();
    await paul.locator("article .line-words").first().waitFor();
    await paul.getByRole("button", { name: "Your account" }).click();
    await paul.getByRole("button", { name: `Leave, back to ${PAUL.email}` }).click();
    await paul.getByRole("heading", { name: "Sessions", level: 1 }).waitFor();
    // Its owner comes by the same link as herself.
    await olga.keyboard.press("Escape");
    await walk.goTo(olga, new URL(link).hash.slice(1));
    await olga.getByLabel("Your name").fill("Olga");
    await olga.getByRole("button", { name: "Join" }).click();
    await olga.getByRole("button", { name: "Share" }).waitFor();
    // And a stranger to the session, who has its address, is told how to come in.
    await walk.goTo(paul, `/sessions/${device.sessionId}`);
    await paul.getByRole("link", { name: "Join as a guest" }).waitFor();
    await walk.inspect(paul, "session-stranger");
    // Nor does an address alone lead into the administration.
    await walk.goTo(paul, "/admin/users");
    await paul.getByRole("heading", { name: "There is nothing here" }).waitFor();
  });

  it("members page: the people of a workspace, and their roles", async () => {
    await olga.getByRole("button", { name: "Your account" }).click();
    await olga.getByRole("link", { name: "Workspaces" }).click();
    await olga.getByRole("link", { name: "Olga's workshop", exact: true }).waitFor();
    await walk.inspect(olga, "workspaces");
    await olga.getByRole("link", { name: "Olga's workshop", exact: true }).click();
    await olga.getByLabel("Invite somebody by address").fill("somebody@example.org");
    await olga.getByRole("button", { name: "Invite", exact: true }).click();
    await olga.getByText("Invited, without an answer yet").waitFor();
    // Paul's address was never proved by a mail, so he is asked by his id.
    const { workspace_id: id } = (await device.get<{ workspace_id: string }>("")).body;
    const { token } = device;
    const body = { user_id: paulId };
    await call(service.api, "POST", `/workspaces/${id}/members`, { token, body });
    await walk.goTo(paul, "/invitations");
    await paul.getByRole("button", { name: "Accept" }).click();
    // The answer to it goes with it.
    await paul.getByRole("button", { name: "Accept" }).waitFor({ state: "detached" });
    await walk.goTo(paul, "/workspaces");
    await paul.getByRole("link", { name: "Olga's workshop", exact: true }).waitFor();
    await olga.getByRole("link", { name: "Sessions", exact: true }).click();
    await walk.goTo(olga, `/workspaces/${id}`);
    await olga.getByLabel("Role of paul").selectOption("owner");
    const roles = async () => {
      const list = await call<{ items: { role: string }[] }>(
        service.api,
        "GET",
        `/workspaces/${id}/members`,
        { token },
      );
      return list.body.items.map(({ role }) => role);
    };
    await expect.poll(roles, { timeout: 10_000 }).toEqual(["owner", "owner"]);
    await walk.inspect(olga, "workspace");
    await olga.getByRole("button", { name: "Remove paul" }).click();
    await olga.getByRole("button", { name: "Remove", exact: true }).click();
    await olga.getByText("paul", { exact: true }).waitFor({ state: "detached" });
  });

  it("graph page: by keyboard from a name to the moment at which it was said", async () => {
    await walk.goTo(olga, `/sessions/${device.sessionId}/graph`);
    const name = olga.getByRole("button", { name: /^report topic/i });
    await name.waitFor();
    await walk.inspect(olga, "graph-session");
    await name.focus();
    await olga.keyboard.press("Enter");
    await olga.getByRole("heading", { name: /^report$/i, level: 2 }).waitFor();
    await olga.getByRole("heading", { name: "Where it was said" }).waitFor();
    await walk.inspect(olga, "graph-evidence");
    await olga.getByRole("button", { name: "All names" }).click();
    await olga.locator(".entity:focus", { hasText: /report/i }).waitFor();
    await olga.keyboard.press("Enter");
    await olga.locator(".spoken").first().click();
    await olga
      .locator('.transcript-row[data-shown="true"]')
      .getByText(/report/i)
      .waitFor();
    await olga.getByRole("link", { name: "Graph" }).click();
    // The picture does the same as the list.
    await olga.locator('.graph-node[data-type="place"]').first().click();
    await olga.getByRole("heading", { name: "Where it was said" }).waitFor();
  });

  it("graph page: of a workspace, hidden from an administrator until there is a reason", async () => {
    const { workspace_id: id } = (await device.get<{ workspace_id: string }>("")).body;
    await walk.goTo(olga, `/workspaces/${id}/graph`);
    await olga.getByRole("button", { name: /^report topic/i }).click();
    await olga.locator(".spoken").first().waitFor();
    const others = olga.getByLabel("Connected with");
    const label = await others
      .locator("option", { hasText: /new york/i })
      .first()
      .textContent();
    await others.selectOption({ label: label ?? "" });
    await olga.getByRole("button", { name: "Show", exact: true }).click();
    await olga.locator(".graph-steps .spoken").first().waitFor();
    await walk.inspect(olga, "graph-workspace");
    await walk.goTo(admin, `/workspaces/${id}/graph`);
    await admin.getByRole("heading", { name: "What was spoken of is hidden" }).waitFor();
    expect(await admin.getByText(/report/i).count()).toBe(0);
    await admin.getByLabel("Reason").fill(REASON);
    await admin.getByRole("button", { name: "Show the content" }).click();
    await admin.getByRole("button", { name: /^report topic/i }).waitFor();
    expect(walk.errors).toEqual([]);
  });
});
