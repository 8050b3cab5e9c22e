import { expect, test } from "vitest";
import { toProcessingEnd } from "./complete-video.ts";

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
