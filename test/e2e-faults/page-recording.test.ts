import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { PageWalk } from "../support/page-walk.ts";
import { call } from "../support/paired-device.ts";
import { until } from "../support/until.ts";
import { WholeService } from "../support/whole-service.ts";
import { newOwner, type WorkspaceOwner } from "../support/workspace-owner.ts";

const CONVERSATION = join(import.meta.dirname, "../../deploy/demo/conversation.wav");

interface Listed {
  id: string;
  title: string;
  status: string;
  duration_ms?: number;
}

describe("recordings of the page that are held up", () => {
  let service: WholeService;
  let account: WorkspaceOwner;
  let walk: PageWalk;

  beforeAll(async () => {
    service = WholeService.shared(inject("installation"));
    account = await newOwner(service);
    walk = await PageWalk.start(service.ready.base_url, [
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${CONVERSATION}`,
    ]);
  });
  afterEach(({ task }) => walk.explain(task));
  afterAll(() => walk?.stop());

  const sessions = async () =>
    (await call<{ items: Listed[] }>(service.api, "GET", "/sessions", { token: account.token }))
      .body.items;

  it("recording: what an ended session takes no more is a session of its own", async () => {
    const page = await walk.newPerson({ permissions: ["microphone"] });
    await walk.signIn(page, account);
    let isDeaf = false;
    await page.routeWebSocket(/\/stream\?/, (socket) => {
      const server = socket.connectToServer();
      socket.onMessage((message) => {
        if (!isDeaf) server.send(message);
      });
    });
    await page.getByRole("link", { name: "Record", exact: true }).click();
    await page.getByLabel("Title").fill("Board meeting");
    await page.getByRole("button", { name: "Start recording" }).click();
    const seconds = async () =>
      Number((await page.getByRole("timer").textContent())?.split(":")[1]);
    await until(async () => (await seconds()) >= 3, "the first seconds", 20_000);
    isDeaf = true;
    const heard = await seconds();
    await until(async () => (await seconds()) >= heard + 5, "sound that is not sent", 20_000);
    await page.close({ runBeforeUnload: false });
    const [begun] = await sessions();
    const stop = `/sessions/${begun?.id}/stop`;
    expect((await call(service.api, "POST", stop, { token: account.token })).status).toBe(200);
    const again = await page.context().newPage();
    await walk.goTo(again, "/");
    await again.getByRole("button", { name: "Finish it" }).click();
    await until(
      async () => (await sessions()).some(({ title }) => title === "Board meeting (rest)"),
      "the rest of the recording",
      30_000,
    );
    const rest = async () => (await sessions()).find(({ title }) => title.endsWith("(rest)"));
    await until(async () => (await rest())?.status === "completed", "its end", 60_000);
    expect((await rest())?.duration_ms).toBeGreaterThan(4_000);
    await again.getByText("was cut off").waitFor({ state: "detached" });
    expect(walk.errors).toEqual([]);
  });
});
