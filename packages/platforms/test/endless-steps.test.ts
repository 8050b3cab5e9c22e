import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { createFacebookPublishingConnector } from "#src/facebook/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { isFailure, isWait, type StepResult } from "#src/publishing/steps.ts";
import { createTiktokPublishingConnector } from "#src/tiktok/publishing/connector.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import { type JsonAnswer, startJsonServer } from "./json-server.ts";
import { PUBLICATION } from "./publication.ts";
import { retryable } from "./results.ts";
import { mp4OfSize } from "./test-media.ts";
import { signal } from "./test-platform.ts";

let answerOf: (request: IncomingMessage) => JsonAnswer = () => ({ body: {} });
const baseUrl = await startJsonServer((request) => answerOf(request));
const VIDEO = { ...PUBLICATION, privacy: "public", media: [mp4OfSize(1280, 720)] } as const;
const MAX_RUNS = 30;

/** Runs the steps of one attempt, and returns their failure; undefined when they do not end. */
async function attempt(connector: PublishingConnector): Promise<StepResult | undefined> {
  let handles: Handles = {};
  let runs = 0;
  for (const step of connector.steps(VIDEO))
    while (!step.isDone(handles) && runs < MAX_RUNS) {
      runs += 1;
      const made = await step.run(VIDEO, handles, signal);
      if (isFailure(made)) return made;
      handles = { ...handles, ...(isWait(made) ? made.handles : made) };
    }
  return undefined;
}

describe("an attempt whose upload makes no progress fails instead of going on without end", () => {
  test.each([403, 404, 410, 416])("TikTok answers HTTP %i to every chunk", async (status) => {
    const data = {
      publish_id: "p",
      upload_url: `${baseUrl}/upload`,
      privacy_level_options: ["PUBLIC_TO_EVERYONE"],
      status: "PROCESSING_UPLOAD",
      uploaded_bytes: 0,
    };
    answerOf = ({ method }) =>
      method === "PUT" ? { status, body: {} } : { body: { data, error: { code: "ok" } } };
    const chunkSizes = { wholeBytes: 0, chunkBytes: [500] };
    const tiktok = createTiktokPublishingConnector({ baseUrl, chunkSizes });
    expect(await attempt(tiktok)).toMatchObject(retryable("platform_unavailable"));
  });

  test("Facebook asks for the same bytes again and again", async () => {
    const offsets = { start_offset: "0", end_offset: "1000" };
    answerOf = () => ({ body: { video_id: "7", upload_session_id: "8", ...offsets } });
    const facebook = createFacebookPublishingConnector({
      baseUrl,
      version: "v25.0",
      uploadBaseUrl: baseUrl,
    });
    expect(await attempt(facebook)).toMatchObject(retryable("platform_unavailable"));
  });

  test("X keeps an upload for a minute only", async () => {
    answerOf = () => ({ body: { data: { id: "7", media_key: "8", expires_after_secs: 60 } } });
    const x = createXPublishingConnector({ baseUrl, mayResend: false });
    expect(await attempt(x)).toMatchObject(retryable("platform_unavailable"));
  });
});
