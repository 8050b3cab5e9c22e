import type { EmbeddedS3 } from "@postrider/local/s3/s3";
import { startTestS3 } from "@postrider/local/s3/test-s3";
import { afterAll, beforeAll, describe } from "vitest";
import { testCommentsWithoutPermission } from "./other-settings/comments.ts";
import { testMediaInS3 } from "./other-settings/media-s3.ts";
import { HANGING_SETTINGS, testHangingPlatform } from "./support/faults/hanging-platform.ts";
import { startSystem, type System } from "./support/system/system.ts";

/**
 * Tests of settings that the shared system does not have: media in an S3 bucket, platforms that are
 * asked only for the permissions for publishing, and publishing calls that may last for minutes.
 */

/** Time limit of the `beforeAll` hook: the first build of the S3 server takes minutes. */
const START_MS = 600_000;

let s3: EmbeddedS3;
let system: System;

beforeAll(async () => {
  s3 = await startTestS3();
  const env = {
    ...s3.settings,
    MEDIA_ORPHAN_SECONDS: "3",
    PLATFORM_FEATURES: "",
    ...HANGING_SETTINGS,
  };
  system = await startSystem("postgres", { env });
}, START_MS);
afterAll(async () => {
  // Stopping the simulator ends the calls to the platform that hangs, so that the stop of the
  // system does not wait for them.
  process.kill(system.local().simulator.pid, "SIGKILL");
  await system[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

describe("media in S3:", () => {
  testMediaInS3(() => ({ s3, system }));
});

describe("an installation that requests only the permissions for publishing:", () => {
  testCommentsWithoutPermission(() => system);
});

testHangingPlatform(() => system);
