import type { ElevatedGrant, OwnerNotices } from "../../../access/elevation.ts";
import { Background } from "../../../base/background.ts";
import { errorMessage } from "../../../base/errors.ts";
import type { Mail, MailMessage } from "../../accounts/mail.ts";
import type { TenancyContext } from "../../context.ts";
import { letter, quoted } from "./letter.ts";
import { OwnerNoticeStore } from "./owner-notices-store.ts";

const REASON_LENGTH = 500;

interface OwnerNoticeOptions {
  mail: Mail | undefined;
  /** Where clients reach this service, without a slash at the end. */
  publicUrl(): string;
}

/**
 * Tells owners by mail what an administrator gave. It has a queue of its own: nobody can hold it
 * back by asking for mail of other kinds.
 */
export function createOwnerNotices(
  { pool, log, stack, queues }: TenancyContext,
  { mail, publicUrl }: OwnerNoticeOptions,
): OwnerNotices & { background: Background } {
  const background = new Background({ concurrency: 1, waiting: 1_000, timeoutMs: 30_000, log });
  queues.add(background);
  stack.push("notices under way", () => background.stop());
  const store = new OwnerNoticeStore(pool);
  return {
    background,
    notify(grant) {
      if (mail === undefined) return;
      try {
        background.start("Telling owners what an administrator gave", async () => {
          for (const message of await compose(store, grant, publicUrl())) await mail.send(message);
        });
      } catch (error) {
        // What was given stands in the audit log all the same.
        log.error(
          { grant: grant.of, error: errorMessage(error) },
          "an owner could not be notified",
        );
      }
    },
  };
}

async function compose(
  store: OwnerNoticeStore,
  grant: ElevatedGrant,
  url: string,
): Promise<MailMessage[]> {
  const [{ name, email }, owners] = await Promise.all([store.grantor(grant), store.owners(grant)]);
  const who = quoted(`${name} (${email}), an administrator of this service,`, 2 * REASON_LENGTH);
  return owners.map((owner) =>
    letter(
      owner.email,
      "An administrator gave access to what is yours",
      [
        `${who} ${deedOf(grant, quoted(owner.place))}`,
        `The reason on record: ${quoted(grant.elevation.reason, REASON_LENGTH)}`,
        "You can see who has access, and take it back, here:",
        url,
      ],
      [url],
    ),
  );
}

function deedOf({ of }: ElevatedGrant, place: string): string {
  if ("sessionId" in of) return `gave somebody access to your session of ${place}.`;
  if ("workspaceId" in of) {
    return `gave somebody membership or another role in your workspace “${place}”.`;
  }
  if ("guestsOfWorkspaceId" in of) {
    return `let guests into the sessions of your workspace “${place}”.`;
  }
  return `made a member of your workspace “${place}” a moderator, who reads every session there.`;
}
