import { expect, test } from "vitest";
import {
  completeVideo,
  PROCESSED_AFTER_MS,
  toProcessingEnd,
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
  const end = toProcessingEnd(status);
  expect(end).toMatchObject({ kind: "never", caveat: { code } });
  expect(end.kind === "never" ? end.caveat?.message : "").toContain(reason);
});

test.each([{ uploadStatus: "processed" }, { uploadStatus: "uploaded" }, undefined])(
  "a published YouTube video with the status %j gets no error",
  (status) => {
    expect(toProcessingEnd(status)).toEqual({ kind: "never" });
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
