import { expect, test } from "vitest";
import { createFacebookPublishingConnector } from "#src/facebook/publishing/connector.ts";
import { startJsonServer } from "../json-server.ts";
import { PUBLICATION } from "../publication.ts";
import { CANNOT_TELL, INCOMPLETE_LOOK, refused, UNKNOWN } from "../results.ts";
import { mp4OfSize, toReel } from "../test-media.ts";
import { guard, signal } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

type Answer = readonly [status: number, body: object];

const WRONG_PARAMETER: Answer = [400, { error: { code: 100, message: "Invalid parameter" } }];
const FAILED: Answer = [500, { error: { code: 2, message: "try again", is_transient: true } }];
const NOT_ALLOWED: Answer = [403, { error: { code: 10, message: "no permission" } }];

let toCall: Answer = WRONG_PARAMETER;
let toRead: Answer = FAILED;
let calls = 0;

const baseUrl = await startJsonServer(({ method }) => {
  if (method === "POST") calls += 1;
  const [status, body] = method === "POST" ? toCall : toRead;
  return { status, body };
});
const api = { baseUrl, version: "v25.0", uploadBaseUrl: baseUrl };
const facebook = createFacebookPublishingConnector(api);

const video = { id: "7", session: "8", start: 1, end: 1, restarts: 0, waitingSince: 0 };
const REEL = { ...PUBLICATION, media: [toReel(mp4OfSize(720, 1280))] };
const VIDEO = { ...PUBLICATION, media: [mp4OfSize(1280, 720)] };
const POST = [PUBLICATION, { postId: "me_7" }] as const;
const READY_REEL = [REEL, { reel: JSON.stringify({ ...video, stage: "ready" }) }] as const;
const READY_VIDEO = [VIDEO, { video: JSON.stringify({ ...video, stage: "ready" }) }] as const;
const UPLOADED = [VIDEO, { video: JSON.stringify({ ...video, stage: "uploaded" }) }] as const;

const status = (publishing: string) => ({
  video_status: "ready",
  publishing_phase: { status: publishing, publish_status: "published" },
});
const SHOWN: Answer = [
  200,
  { id: "7", is_published: true, published: true, status: status("complete") },
];
const HIDDEN: Answer = [
  200,
  { id: "7", is_published: false, published: false, status: status("not_started") },
];

test.each([
  ["post", POST, "me_7"],
  ["video", READY_VIDEO, "7"],
  ["uploaded video", UPLOADED, "7"],
  ["reel", READY_REEL, "7"],
] as const)(
  "a Facebook %s whose call is refused is published if Facebook shows it, failed if Facebook says that it does not, and else unknown",
  async (_kind, [publication, handles], externalId) => {
    toCall = WRONG_PARAMETER;
    toRead = SHOWN;
    expect(await facebook.publish(publication, handles, guard)).toMatchObject({
      kind: "published",
      externalId,
    });
    toRead = HIDDEN;
    expect(await facebook.publish(publication, handles, guard)).toMatchObject(
      refused("content_rejected"),
    );
    toRead = FAILED;
    expect(await facebook.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
  },
);

test.each([
  ["post", POST, { kind: "repeat" }, { kind: "repeat" }],
  ["processed video", READY_VIDEO, { kind: "repeat" }, { kind: "repeat" }],
  ["uploaded video", UPLOADED, INCOMPLETE_LOOK, CANNOT_TELL],
  ["reel", READY_REEL, INCOMPLETE_LOOK, CANNOT_TELL],
] as const)(
  "the call for a Facebook %s that cannot be read is repeated only if it does nothing but set a flag",
  async (_kind, [publication, handles], unread, forbidden) => {
    const call = unknownCall({ callUntil: new Date(Date.now() - 1_000), looks: 0 });
    calls = 0;
    toRead = FAILED;
    expect(await facebook.reconcile(publication, handles, call, signal)).toMatchObject(unread);
    toRead = NOT_ALLOWED;
    expect(await facebook.reconcile(publication, handles, call, signal)).toMatchObject(forbidden);
    expect(calls).toBe(0);
  },
);
