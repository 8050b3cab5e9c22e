import { expect, test } from "vitest";
import {
  completeVideo,
  findRejection,
  PROCESSED_AFTER_MS,
  toVideoHandles,
} from "./complete-video.ts";

test.each([
  [{ uploadStatus: "failed", failureReason: "codec" }, "media_rejected", "codec"],
  [{ uploadStatus: "rejected", rejectionReason: "length" }, "media_rejected", "length"],
  [{ uploadStatus: "rejected", rejectionReason: "copyright" }, "content_rejected", "copyright"],
  [
    { uploadStatus: "rejected", rejectionReason: "uploaderAccountSuspended" },
    "account_action_needed",
    "uploaderAccountSuspended",
  ],
])("a published YouTube video with the status %j gets the error %s", (status, code, reason) => {
  const message: unknown = expect.stringContaining(reason);
  expect(findRejection(status)).toEqual({ code, message });
});

test.each([{ uploadStatus: "processed" }, { uploadStatus: "uploaded" }, undefined])(
  "a published YouTube video with the status %j gets no error",
  (status) => {
    expect(findRejection(status)).toBeUndefined();
  },
);

test("whether YouTube could process a video is asked an hour after its upload, and not before", async () => {
  const caller = new Proxy({} as Parameters<typeof completeVideo>[0], {
    get: () => expect.unreachable(),
  });
  const details = await completeVideo(caller, toVideoHandles("video", null), PROCESSED_AFTER_MS);
  expect(details).toEqual({ kind: "not_yet", afterMs: expect.any(Number) as number });
  const { afterMs = 0 } = details.kind === "not_yet" ? details : {};
  expect(afterMs).toBeGreaterThan(3_500_000);
  expect(afterMs).toBeLessThanOrEqual(3_600_000);
});
