import {
  openFolder,
  openStartedMoving,
  openStartedS3,
} from "../support/audio-store/store-places.ts";
import { describeAudioStore } from "../support/audio-store/store-suite.ts";

/*
 * The folder is a real one. The S3 server is the one of these tests, which checks signatures, conditions
 * (`If-None-Match`, `If-Match`), the SHA-256 of every body and part, the least length of parts, ranges and
 * cursors. A server of others passes the same suite every night (`test/nightly/s3-servers.test.ts`).
 */
describeAudioStore("folder", openFolder);
describeAudioStore("S3", openStartedS3);
describeAudioStore("moved from a folder to S3", () => openStartedMoving("S3"));
describeAudioStore("moved from S3 to a folder", () => openStartedMoving("folder"));
