import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../../src/base/ids.ts";
import { AppFixture } from "../../support/app-fixture.ts";
import { PageWalk } from "../../support/page-walk.ts";
import { adminToken, call } from "../../support/paired-device.ts";

const ROUTES = join(import.meta.dirname, "../../../src/web/routes.ts");
const WIDTHS = [320, 390, 768, 1_280, 1_920];

/** Addresses of each route of the page: with something to show, and with nothing. */
function addressesOf(ids: Record<"session" | "workspace" | "workshop" | "webhook", string>) {
  const { session, workspace, workshop, webhook } = ids;
  return {
    "/": ["/"],
    "/sessions/:id/graph": [`/sessions/${session}/graph`],
    "/sessions/:id/print": [`/sessions/${session}/print`],
    "/sessions/:id/:at?": [`/sessions/${session}`, `/sessions/${newId()}`],
    "/search/:filters?": ["/search", "/search/words=budget&status=failed&tag=board"],
    "/record": ["/record"],
    "/devices/:deed?/:code?": ["/devices", "/devices/pair"],
    "/invitations": ["/invitations"],
    "/voice": ["/voice"],
    "/workshops": ["/workshops"],
    "/workshops/:id": [`/workshops/${workshop}`],
    "/keys": ["/keys"],
    "/webhooks/:workspace?": ["/webhooks", `/webhooks/${workspace}`],
    "/webhooks/:workspace/:id": [`/webhooks/${workspace}/${webhook}`],
    "/join/:code": [`/join/${session}`],
    "/workspaces": ["/workspaces"],
    "/workspaces/:id": [`/workspaces/${workspace}`],
    "/workspaces/:id/graph": [`/workspaces/${workspace}/graph`],
    "/admin/:tab?/:kind?/:id?": ["/admin", "/admin/jobs", "/admin/users", "/admin/audit"],
    "/terminal": ["/terminal"],
  };
}

describe("every view of the page", () => {
  let service: AppFixture;
  let walk: PageWalk;
  let addresses: ReturnType<typeof addressesOf>;

  beforeAll(async () => {
    service = await AppFixture.start({ WEBHOOK_ALLOW_PRIVATE: "1" });
    walk = await PageWalk.start(service.ready.base_url);
    const token = await adminToken(service);
    const make = async (path: string, body: object) => {
      const made = await call<{ id: string }>(service.api, "POST", path, { token, body });
      expect([path, made.status]).toEqual([path, 201]);
      return made.body.id;
    };
    const workspace = await make("/workspaces", { name: "Ensemble" });
    const session = await make("/sessions", {
      ...{ title: "Planning of the year", workspace_id: workspace, tags: ["board"] },
    });
    await make(`/sessions/${session}/marks`, { at_ms: 1_000, text: "Ask for the figures" });
    const workshop = await make("/workshops", { workspace_id: workspace, name: "A play" });
    const webhook = await make(`/workspaces/${workspace}/webhooks`, {
      ...{ url: "http://127.0.0.1:9/hook", event_types: ["session.completed"] },
    });
    addresses = addressesOf({ session, workspace, workshop, webhook });
  });
  afterAll(async () => {
    await walk?.stop();
    await service?.stop();
  });

  it("views: each has an address here", () => {
    const paths = readFileSync(ROUTES, "utf8").matchAll(/^ *(?:\{ )?path: "([^"]+)"/gm);
    expect(Object.keys(addresses).sort()).toEqual([...paths].map(([, path]) => path).sort());
  });

  it("views: axe finds nothing in any, in both looks from 320 to 1,920 pixels", async () => {
    const page = await walk.newPerson();
    const flaws: Record<string, readonly string[]> = {};
    const look = async (name: string) => {
      await page.locator("h1").first().waitFor();
      await page.locator(".skeleton").first().waitFor({ state: "detached" });
      const found = await walk.flawsOf(page, WIDTHS);
      if (found.length > 0) flaws[name] = found;
    };
    await walk.goTo(page, "/");
    await look("sign-in");
    await walk.signIn(page, service.ready.admin);
    for (const address of [...Object.values(addresses).flat(), "/nothing/is/here"]) {
      await walk.goTo(page, address);
      await look(address);
    }
    expect(flaws).toEqual({});
    expect(walk.errors).toEqual([]);
  }, 900_000);
});
