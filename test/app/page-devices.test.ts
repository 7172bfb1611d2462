import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { newId } from "../../src/base/ids.ts";
import { PasswordHasher } from "../../src/tenancy/accounts/passwords.ts";
import { AttackedService, type Person } from "../support/attacked-service.ts";
import { PageWalk } from "../support/page-walk.ts";

const PASSWORD = "violet harbour lantern";

describe("page: old browsers, and whose a session is", () => {
  let service: AttackedService;
  let walk: PageWalk;
  let owner: Person;
  let admin: Person;

  beforeAll(async () => {
    service = await AttackedService.open();
    const hash = await new PasswordHasher().hash(PASSWORD);
    owner = await service.addUser("participant", "olga@example.org", hash);
    admin = await service.addUser("admin", "ada@example.org", hash);
    await service.sql("update users set name = 'Olga' where id = $1", [owner.id]);
    walk = await PageWalk.start(service.api.replace(/\/api$/, ""));
  });
  afterEach(({ task }) => walk.explain(task));
  afterAll(async () => {
    await walk?.stop();
    await service?.close();
  });

  async function signedIn({ email }: Person): Promise<Page> {
    const page = await walk.newPerson();
    await walk.signIn(page, { email, password: PASSWORD });
    return page;
  }

  it("page: browsers that have not recorded for a month are forgotten together, others stay", async () => {
    const workspace = await service.addWorkspace(owner.id);
    const days = { Old: 40, Older: 90, Recent: 3 };
    for (const [name, ago] of Object.entries(days)) {
      const body = { workspace_id: workspace, name, model: "browser" };
      const { device_id: id } = await service.done("POST", "/devices", owner.headers, body);
      await service.sql(
        "update devices set last_seen_at = now() - $2 * interval '1 day' where id = $1",
        [id, ago],
      );
    }
    const program = { workspace_id: workspace, name: "Importer", model: newId() };
    const { device_id: id } = await service.done("POST", "/devices", owner.headers, program);
    await service.sql(
      "update devices set last_seen_at = now() - interval '90 days' where id = $1",
      [id],
    );
    const page = await signedIn(owner);
    await walk.goTo(page, "/devices");
    await page.getByRole("button", { name: "Forget 2 old browsers" }).press("Enter");
    const asked = page.getByRole("dialog");
    await asked.getByText("Older", { exact: false }).first().waitFor();
    expect(await asked.getByText("Recent").count()).toBe(0);
    await walk.inspect(page, "devices-forget", { everywhere: true });
    await asked.getByRole("button", { name: "Forget 2" }).press("Enter");
    await page.getByText("2 browsers are forgotten.").waitFor();
    await page.getByRole("button", { name: /^Forget/ }).waitFor({ state: "detached" });
    const { items } = await service.done("GET", "/devices?status=paired", owner.headers);
    const names = (items as { name: string }[]).map(({ name }) => name).sort();
    expect(names).toEqual(["Importer", "Recent"]);
  });

  it("page: an administrator sees whose a session is, its owner does not need to", async () => {
    const workspace = await service.addWorkspace(owner.id);
    const body = { title: "Board meeting", workspace_id: workspace };
    await service.done("POST", "/sessions", owner.headers, body);
    const page = await signedIn(admin);
    const row = page.locator(".session-row", { hasText: "Board meeting" });
    await row.getByText("of Olga").waitFor();
    await walk.inspect(page, "sessions-of-others", { everywhere: true });
    const own = await signedIn(owner);
    await own.locator(".session-row", { hasText: "Board meeting" }).waitFor();
    expect(await own.getByText("of Olga").count()).toBe(0);
    expect(walk.errors).toEqual([]);
  });
});
