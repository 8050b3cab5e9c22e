import { PostriderConnectionError, PostriderError } from "@postrider/client";
import { expect, test } from "vitest";
import { mediaEn } from "./media-words.ts";
import { isRepeatable, rejectionOf } from "./rejection.ts";
import { afterProgress, bytesText, durationText, figuresOf, type Upload } from "./upload-state.ts";

const upload: Upload = {
  key: "k",
  place: "p",
  order: 1,
  fileName: "a.jpg",
  previewUrl: undefined,
  kind: "image",
  state: "sending",
  sentBytes: 8_100_000,
  totalBytes: 12_600_000,
  startedAt: 0,
};

test("an upload has its percent, and its seconds as soon as the speed is known", () => {
  expect(figuresOf(upload, 500)).toEqual({ percent: 64, secondsLeft: undefined });
  expect(figuresOf(upload, 16_000)).toEqual({ percent: 64, secondsLeft: 9 });
  expect(figuresOf({ ...upload, totalBytes: 0, sentBytes: 0 }, 9_000).percent).toBe(0);
});

test("a file whose bytes are all there is being checked", () => {
  expect(afterProgress(upload, 9, 10).state).toBe("sending");
  expect(afterProgress(upload, 10, 10).state).toBe("checking");
});

test.each([
  [999, "999 B"],
  [340_000, "340 kB"],
  [12_600_000, "12.6 MB"],
  [1_800_000_000, "1.8 GB"],
])("%d bytes are written as %s", (bytes, text) => {
  expect(bytesText(bytes, "en")).toBe(text);
});

test.each([
  [38_000, "0:38"],
  [761_000, "12:41"],
  [3_723_000, "1:02:03"],
])("%d ms are written as %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

function refused(code: string, details: readonly { code: string; message: string }[] = []) {
  const fields = { status: 422, requestId: null, retryAfterSeconds: null };
  return new PostriderError({ code, message: "The server's sentence.", details, ...fields });
}

test("a rejected file is told with its cause", () => {
  const say = (error: unknown) => rejectionOf(error, mediaEn);
  expect(say(refused("media_rejected", [{ code: "media_too_large", message: "m" }]))).toBe(
    "The file is too large.",
  );
  expect(say(refused("import_failed", [{ code: "download_refused", message: "m" }]))).toBe(
    "The other server did not give the file.",
  );
  expect(say(refused("quota_exceeded", [{ code: "new", message: "A new cause." }]))).toBe(
    "A new cause.",
  );
  expect(say(new TypeError("no type"))).toBe("This type of file is not accepted.");
});

test("a file is sent again only where that can help", () => {
  expect(isRepeatable(new PostriderConnectionError("PUT", new Error("lost")))).toBe(true);
  expect(isRepeatable(refused("media_rejected"))).toBe(false);
});
