import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AttackedService } from "../support/attacked-service.ts";
import { until } from "../support/until.ts";

const MOST = 3;

describe("sessions that somebody begins and leaves, without a device", () => {
  let house: AttackedService;

  beforeAll(async () => {
    house = await AttackedService.open({
      AUTO_STOP_SILENCE: "1",
      MAX_RECORDINGS_PER_USER: String(MOST),
    });
  });
  afterAll(() => house?.close());

  it("end by themselves when no audio comes, and hold nobody's place for ever", async () => {
    const user = await house.addUser();
    const body = { workspace_id: await house.addWorkspace(user.id) };
    const begin = () => house.call("POST", "/sessions", user.headers, body);
    const begun = await Promise.all(Array.from({ length: MOST }, begin));
    expect(begun.map(({ status }) => status)).toEqual(Array(MOST).fill(201));
    for (const { body: session } of begun) {
      const shown = async () =>
        (await house.call("GET", `/sessions/${session.id}`, user.headers)).body;
      await until(async () => (await shown()).status !== "recording", "the end", 60_000);
      expect(await shown()).toMatchObject({ stop_reason: "device_silent" });
    }
    expect((await begin()).status).toBe(201);
  });
});
