import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBluesky } from "#src/bluesky/publishing/xrpc.ts";
import { limitForeignHosts } from "#src/http/foreign-hosts.ts";
import { readThread, type ThreadReply } from "./thread.ts";

const OWNER = "did:plc:owner";
const POST = { uri: `at://${OWNER}/app.bsky.feed.post/3lbpost222222`, cid: "bafypost" };
const TIME = "2026-11-20T10:00:00.000Z";
const REPLY = {
  uri: "at://did:plc:reader/app.bsky.feed.post/3lbreply22222",
  cid: "bafyreply",
  author: { did: "did:plc:reader", handle: "reader.bsky.social" },
  record: { text: "hello", createdAt: TIME },
  indexedAt: TIME,
  likeCount: 3,
};

let replies: readonly object[] = [];
const server = createServer((_request, response) => {
  const thread = { post: { ...POST, record: {} }, replies: replies.map((post) => ({ post })) };
  response.end(JSON.stringify({ thread }));
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const urlOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function read(...posts: readonly object[]): Promise<readonly ThreadReply["comment"][]> {
  return await readAs({}, posts);
}

async function readAs(
  attributes: Readonly<Record<string, string>>,
  posts: readonly object[],
): Promise<readonly ThreadReply["comment"][]> {
  replies = posts;
  const account = { externalId: OWNER, username: "", accessToken: "token", attributes };
  const baseUrl = urlOf();
  const bluesky = openBluesky(baseUrl)(account, AbortSignal.timeout(10_000));
  const thread = await readThread(bluesky, "3lbpost222222");
  return thread.kind === "thread" ? thread.replies.map(({ comment }) => comment) : [];
}

test("a Bluesky reply is shown with the longest text that Bluesky allows and without an author of whom no account can have the name, whatever the server answers", async () => {
  const author = { did: `did:web:${"d".repeat(512)}`, handle: "h".repeat(257) };
  const record = { text: "t".repeat(3001), createdAt: TIME };
  expect(await read({ ...REPLY, author, record, likeCount: 1e300, replyCount: 0.5 })).toEqual([
    {
      id: "3lbreply22222",
      text: "t".repeat(3000),
      authorId: null,
      authorUsername: null,
      isOwn: false,
      createdAt: new Date(TIME),
      likeCount: null,
      replyCount: null,
    },
  ]);
});

test.each([
  ["a longer address than any record has", { uri: `${REPLY.uri}/${"k".repeat(1024)}` }],
  ["a record key that Bluesky does not allow", { uri: `${REPLY.uri}/not allowed` }],
  ["a longer content id than any record has", { cid: "c".repeat(257) }],
  [
    "only times that cannot be stored",
    { record: { createdAt: "+275760-09-13T00:00:00.000Z" }, indexedAt: "0000-01-01T00:00:00.000Z" },
  ],
])("a Bluesky reply with %s is left out of the comments", async (_what, changed) => {
  expect(await read({ ...REPLY, ...changed })).toEqual([]);
  expect(await read(REPLY)).toMatchObject([{ id: "3lbreply22222", likeCount: 3 }]);
});

test("of the replies that an owner's server returns those with large records and those after 4 MB are left out", async () => {
  limitForeignHosts({ allow: [{ address: "127.0.0.1", fromPort: 1, toPort: 65_535 }] });
  const reply = (number: number, bytes: number) => ({
    ...REPLY,
    uri: `${REPLY.uri}${number}`,
    padding: "x".repeat(bytes),
  });
  const posts = [
    reply(0, 130 * 1024),
    ...Array.from({ length: 100 }, (_, index) => reply(1 + index, 100 * 1024)),
  ];
  const idsOf = async (attributes: Readonly<Record<string, string>>) =>
    (await readAs(attributes, posts)).map(({ id }) => id);
  const ids = await idsOf({ pdsUrl: urlOf() });
  expect(ids.length).toBeGreaterThan(30);
  expect(ids.length).toBeLessThan(42);
  expect(ids).not.toContain("3lbreply222220");
  expect(await idsOf({})).toHaveLength(101);
  limitForeignHosts({ allow: [] });
});
