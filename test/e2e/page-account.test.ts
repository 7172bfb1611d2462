import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { PageWalk } from "../support/page-walk.ts";
import { until } from "../support/until.ts";
import { CONVERSATION } from "../support/upload-page.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

/** As browsers without the pretence of a microphone do it. */
const NAMELESS_BEFORE = `
  const devices = navigator.mediaDevices;
  const [ask, list] = [devices.getUserMedia.bind(devices), devices.enumerateDevices.bind(devices)];
  let isLetIn = false;
  devices.getUserMedia = async (wanted) => {
    const stream = await ask(wanted);
    isLetIn = true;
    return stream;
  };
  devices.enumerateDevices = async () => (isLetIn ? list() : []);
`;
const FRESH = "violet harbour lantern";

describe("page: an account and its microphone", () => {
  let service: WholeService;
  let owner: WorkspaceOwner;
  let walk: PageWalk;
  let page: Page;

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    owner = await newOwner(service);
    walk = await PageWalk.start(service.ready.base_url, [
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${CONVERSATION}`,
    ]);
    page = await walk.newPerson();
    await walk.signIn(page, owner);
  });
  afterEach(({ task }) => walk.explain(task, service));
  afterAll(() => walk?.stop());

  it("page: the views have names on a phone, too", async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    for (const name of ["Sessions", "Record", "Devices"]) {
      const shown = page.getByRole("link", { name, exact: true }).getByText(name);
      const box = await shown.boundingBox();
      expect([name, (box?.width ?? 0) > 20, (box?.height ?? 0) > 8]).toEqual([name, true, true]);
    }
    expect(await walk.flawsOf(page, [320, 390])).toEqual([]);
  });

  it("page: the microphone is chosen, kept, and changed while it records", async () => {
    await page.getByRole("link", { name: "Record", exact: true }).click();
    const field = page.getByRole("combobox", { name: /^Microphone/ });
    await field.waitFor();
    const names = (await field.locator("option").allTextContents()).slice(1);
    expect(names.length).toBeGreaterThan(1);
    await field.selectOption({ label: names[0] ?? "" });
    await walk.inspect(page, "record-microphone", { everywhere: true });
    await page.reload();
    await field.waitFor();
    const chosen = () => field.locator("option:checked").textContent();
    await until(async () => (await chosen()) === names[0], "the choice that was kept");
    await page.getByRole("button", { name: "Start recording" }).click();
    const seconds = async () =>
      Number((await page.getByRole("timer").textContent())?.split(":")[1]);
    await until(async () => (await seconds()) > 1, "the clock");
    await field.selectOption({ label: names[1] ?? "" });
    const before = await seconds();
    await until(async () => (await seconds()) > before + 2, "the recording to go on", 20_000);
    expect(await page.getByRole("alert").count()).toBe(0);
    await walk.inspect(page, "record-microphone-running");
    await page.getByRole("button", { name: "Finish", exact: true }).click();
    await page.getByText("Completed", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Record", exact: true }).click();
    await field.waitFor();
    await until(async () => (await chosen()) === names[1], "the choice that was made");
  });

  it("page: where the browser names none before it lets one in, that is asked for", async () => {
    const careful = await walk.newPerson();
    await careful.addInitScript(NAMELESS_BEFORE);
    await walk.signIn(careful, owner);
    await careful.getByRole("link", { name: "Record", exact: true }).click();
    await careful.getByRole("button", { name: "Choose the microphone" }).press("Enter");
    const field = careful.getByRole("combobox", { name: /^Microphone/ });
    await until(async () => (await field.locator("option").count()) > 2, "the microphones");
    await careful.close();
  });

  it("page: one that is not connected any more is no hindrance", async () => {
    await page.evaluate(
      "localStorage.setItem('voice-microphone', JSON.stringify({ id: 'gone', name: 'Gone' }))",
    );
    await page.reload();
    await page.getByRole("button", { name: "Start recording" }).click();
    await page.getByRole("timer").waitFor();
    await page.getByRole("button", { name: "Finish", exact: true }).click();
    await page.getByText("Completed", { exact: true }).waitFor();
  });

  it("page: a password is changed; here one stays signed in, elsewhere it is asked for", async () => {
    const elsewhere = await walk.newPerson();
    await walk.signIn(elsewhere, owner);
    await page.getByRole("button", { name: "Your account" }).press("Enter");
    await page.getByRole("button", { name: "Change password" }).press("Enter");
    await page.getByLabel("Current password").fill("not this one at all");
    await page.getByLabel(/^New password/).fill(FRESH);
    await page.getByLabel("The new password once more").fill(`${FRESH}!`);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("not written the same twice").waitFor();
    await page.getByLabel("The new password once more").fill(FRESH);
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("The current password is not right.").waitFor();
    await walk.inspect(page, "password", { everywhere: true });
    await page.getByLabel("Current password").fill(owner.password);
    await page.keyboard.press("Enter");
    await page.getByText("Your password is changed.").waitFor();
    await elsewhere.getByRole("heading", { name: "Please sign in again" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Your account" }).waitFor();
    await elsewhere.getByLabel("Password").fill(FRESH);
    await elsewhere.getByRole("button", { name: "Sign in", exact: true }).click();
    await elsewhere.getByRole("heading", { name: "Please sign in again" }).waitFor({
      state: "detached",
    });
    expect(walk.errors).toEqual([]);
  });
});
