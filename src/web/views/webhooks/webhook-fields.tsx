import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Webhook } from "../../api/records.ts";
import { Choice, TextField } from "../../parts/fields.tsx";
import { EVENT_NAMES, EVENTS, type EventType } from "./webhook-facts.ts";

/** The fields of a form for a webhook, with what it says now. */
export function WebhookFields({ webhook }: { webhook?: Webhook }): VNode {
  const chosen = webhook?.event_types ?? [];
  const [isNarrow, setNarrow] = useState(chosen.length > 0);
  return (
    <>
      <TextField
        label="Address, where messages are posted to"
        name="url"
        type="url"
        required
        maxLength={2_048}
        placeholder="https://example.com/hooks/voice"
        defaultValue={webhook?.url}
      />
      <TextField
        label="Note"
        name="description"
        maxLength={500}
        placeholder="What is it for?"
        defaultValue={webhook?.description}
      />
      <Choice
        label="It is told of"
        value={isNarrow ? "some" : "all"}
        of={[
          { id: "all", name: "Everything" },
          { id: "some", name: "Only some events" },
        ]}
        onChoose={(which) => setNarrow(which === "some")}
      />
      {isNarrow && (
        <fieldset class="choices">
          <legend>Events</legend>
          {EVENT_NAMES.map((name) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                name="event"
                value={name}
                defaultChecked={chosen.includes(name)}
              />
              <span>
                {EVENTS[name]}
                <br />
                <code class="soft">{name}</code>
              </span>
            </label>
          ))}
        </fieldset>
      )}
      {isNarrow && <input type="hidden" name="narrow" value="1" />}
    </>
  );
}

/** What a filled form asks for; throws what is missing. */
export function webhookOf(fields: FormData) {
  const events = fields.getAll("event").map((each) => String(each) as EventType);
  if (fields.has("narrow") && events.length === 0) {
    throw new Error("Choose what it is told of, or everything.");
  }
  return {
    url: String(fields.get("url")).trim(),
    description: String(fields.get("description")).trim(),
    event_types: events,
  };
}
