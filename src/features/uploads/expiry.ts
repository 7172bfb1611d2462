import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { WorkList } from "../../base/work/work-list.ts";
import type { IncomingFolder } from "./incoming-folder.ts";
import type { ExpiredUpload, UploadStore } from "./store.ts";

const PAGE = 100;

interface ExpiryOptions {
  uploads: UploadStore;
  folder: IncomingFolder;
  clock: Clock;
  log: Log;
}

/** Removes files whose time is over, and what is known of finished ones. */
export function expiredUploads({ uploads, folder, clock, log }: ExpiryOptions) {
  return new WorkList<ExpiredUpload>({
    page: PAGE,
    read: (limit, except) => uploads.expired(limit, except),
    keyOf: ({ id }) => id,
    async work(upload) {
      await folder.remove(upload);
      await uploads.remove(upload.id);
    },
    ...{ clock, log, trouble: "an expired upload could not be removed yet", field: "upload_id" },
  });
}
