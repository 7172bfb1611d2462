import { newId } from "../../src/base/ids.ts";
import { createConcerns } from "../../src/conversations/concerns/triage-routes.ts";
import type { Route } from "../../src/rest/route.ts";
import type { OutsideCommand } from "../../src/session/outside-command.ts";
import type { SessionFixture } from "./session-fixture.ts";

/** The routes of a fixture, and those of concerns; `asked` gets what actors are asked. */
export function groupRoutes(fixture: SessionFixture, asked: OutsideCommand[] = []): Route[] {
  const actors = {
    async ask(_sessionId: string, command: OutsideCommand) {
      asked.push(command);
      return { segmentIds: [newId()] };
    },
  };
  const { directory } = fixture;
  const concerns = createConcerns({ ...fixture.context, actors }, { directory });
  return [...fixture.routes, ...concerns.routes];
}
