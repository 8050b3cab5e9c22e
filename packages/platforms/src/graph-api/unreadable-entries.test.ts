import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { listComments as listFacebookComments } from "#src/facebook/comments/connector.ts";
import { createFacebookPrivateRepliesConnector } from "#src/facebook/private-replies/connector.ts";
import { listComments as listInstagramComments } from "#src/instagram/comments/connector.ts";
import { createInstagramPrivateRepliesConnector } from "#src/instagram/private-replies/connector.ts";
import { type GraphApi, openGraph } from "./graph-request.ts";

const account = { externalId: "1", username: "ada", accessToken: "token", attributes: {} };
const query = { mediaId: "1_2", limit: 50, after: undefined };
const signal = AbortSignal.timeout(5_000);

/**
 * Calls a Graph API whose lists have one entry with a readable time, one without a time and one
 * with a time that cannot be stored. No counter of them counts anything.
 */
async function withEntries<T>(call: (api: GraphApi) => Promise<T>): Promise<T> {
  const comments = { summary: { total_count: 1e300 } };
  const counters = { like_count: 1.5, comments_count: -1, comments };
  const entry = (id: string, time: string) => ({ id, timestamp: time, created_time: time });
  const entries = [
    { id: "3" },
    entry("4", "2026-11-23T12:00:00+0000"),
    entry("5", "+012026-01-01"),
  ];
  const data = entries.map((each) => ({ ...each, ...counters }));
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ data }));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return await call({ baseUrl, uploadBaseUrl: baseUrl, version: "v25.0" });
  } finally {
    server.close();
  }
}

describe.each([
  ["Facebook", listFacebookComments, createFacebookPrivateRepliesConnector],
  ["Instagram", listInstagramComments, createInstagramPrivateRepliesConnector],
])("lists of %s with unreadable entries", (_platform, listComments, createPrivateReplies) => {
  test("a comment without a time that can be stored is left out of the list, and the other comments are listed without counters that count nothing", async () => {
    const page = await withEntries((api) => listComments(openGraph(api, account, signal), query));
    expect(page).toMatchObject({ kind: "page", comments: [{ id: "4", likeCount: null }] });
    expect("comments" in page ? page.comments : []).toHaveLength(1);
  });

  test("media without a time that can be stored are left out of the list, and the other media are listed without counters that count nothing", async () => {
    const page = await withEntries((api) =>
      createPrivateReplies({ ...api, loginBaseUrl: api.baseUrl }).listMedia(account, query, signal),
    );
    expect(page).toMatchObject({ kind: "media", media: [{ id: "4", commentCount: null }] });
    expect("media" in page ? page.media : []).toHaveLength(1);
  });
});
