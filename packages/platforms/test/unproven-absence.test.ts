import { expect, test } from "vitest";
import { createFacebookPublishingConnector } from "#src/facebook/publishing/connector.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import { startJsonServer } from "./json-server.ts";
import { PUBLICATION } from "./publication.ts";
import { INCOMPLETE_LOOK } from "./results.ts";
import { mp4OfSize } from "./test-media.ts";
import { signal } from "./test-platform.ts";
import { unknownCall } from "./unknown-call.ts";

let answer: unknown = {};
const baseUrl = await startJsonServer(() => ({ body: answer }));
/** After all searches that prove a post absent. */
const LATE = unknownCall({ callUntil: new Date(Date.now() - 3_600_000), looks: 5 });

test.each([
  ["absent", { published: false }, { kind: "absent", isOwnFlag: true }],
  ["not proved absent", {}, { kind: "repeat" }],
])("a Facebook video is %s after an answer with %o", async (_name, flag, verdict) => {
  const facebook = createFacebookPublishingConnector({
    baseUrl,
    version: "v25.0",
    uploadBaseUrl: baseUrl,
  });
  const publication = { ...PUBLICATION, media: [mp4OfSize(1280, 720)] };
  const video = { id: "7", session: "8", start: 1, end: 1, stage: "ready", restarts: 0 };
  answer = { id: "7", status: { video_status: "ready" }, ...flag };
  const handles = { video: JSON.stringify({ ...video, waitingSince: 0 }) };
  expect(await facebook.reconcile(publication, handles, LATE, signal)).toEqual(verdict);
});

test.each([
  ["absent", {}, { kind: "absent" }],
  ["not proved absent", { errors: [{ title: "Authorization Error" }] }, INCOMPLETE_LOOK],
])(
  "a post on X is %s after a timeline without posts and with %o",
  async (_name, extra, verdict) => {
    const x = createXPublishingConnector({ baseUrl, mayResend: true });
    answer = { meta: { result_count: 0 }, ...extra };
    expect(await x.reconcile(PUBLICATION, {}, LATE, signal)).toMatchObject(verdict);
  },
);
