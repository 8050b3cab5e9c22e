import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createBlueskyCommentsConnector } from "#src/bluesky/comments/connector.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { retryable } from "../results.ts";
import { signal } from "../test-platform.ts";

const OWNER = "did:plc:owner";
const POST = { uri: `at://${OWNER}/app.bsky.feed.post/3lbpost222222`, cid: "bafypost" };
/**
 * Size of the largest record of a reply; a link card is in the answer twice, as a record and as it
 * is shown.
 */
const RECORD_BYTES = 1_000_000;

/** A reply as Bluesky's answer contains it. Higher numbers are older. */
function toReply(number: number, card: string) {
  const createdAt = new Date(Date.UTC(2026, 10, 20) - number * 1_000).toISOString();
  const external = { uri: "https://example.com", title: "", description: card };
  return {
    post: {
      uri: `at://did:plc:reader/app.bsky.feed.post/3lbreply${String(number).padStart(5, "0")}`,
      cid: `bafy${number}`,
      author: { did: "did:plc:reader", handle: "reader.bsky.social" },
      record: { text: `reply ${number}`, createdAt, embed: { external } },
      embed: { external },
      indexedAt: createdAt,
    },
  };
}

/** Yields an answer with a thread whose replies have link cards with texts of the given lengths. */
function* answer(cards: readonly number[]) {
  yield `{"thread":${JSON.stringify({ post: { ...POST, record: {} } }).slice(0, -1)},"replies":[`;
  for (const [number, length] of cards.entries())
    yield `${number === 0 ? "" : ","}${JSON.stringify(toReply(number, "é".repeat(length / 2)))}`;
  yield "]}}";
}

let cards: readonly number[] = [];
const server = createServer((request, response) => {
  if (request.url?.includes("getPostThread") === true) {
    response.writeHead(200, { "content-type": "application/json" });
    Readable.from(answer(cards)).pipe(response);
  } else {
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: "RecordNotFound", message: "no threadgate" }));
  }
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const account = {
  externalId: OWNER,
  accessToken: "token",
  attributes: {},
} as unknown as AccountAccess;
const mediaId = "3lbpost222222";
const open = () =>
  createBlueskyCommentsConnector({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
const list = async () =>
  await open().listComments(account, { mediaId, limit: 50, after: undefined }, signal);
const find = async (commentId: string) =>
  await open().readComment(account, { mediaId, commentId }, signal);

test("strangers whose replies to a Bluesky post have the largest link cards do not keep the other comments of the post from being read", async () => {
  cards = [...Array<number>(20).fill(RECORD_BYTES), ...Array<number>(20).fill(2)];
  const page = await list();
  expect(page.kind).toBe("page");
  if (page.kind !== "page") return;
  expect(page.comments.map(({ text }) => text)).toEqual(
    cards.map((_length, number) => `reply ${number}`),
  );
  expect(await find("3lbreply00039")).toMatchObject({ comment: { text: "reply 39" } });
});

test("a Bluesky thread larger than Postrider reads is listed with its newest comments, and a comment beyond them is not reported as missing", async () => {
  cards = Array<number>(50).fill(RECORD_BYTES);
  const page = await list();
  expect(page.kind).toBe("page");
  if (page.kind !== "page") return;
  expect(page.comments.length).toBeGreaterThan(25);
  expect(page.comments[0]?.text).toBe("reply 0");
  expect(await find("3lbreply00000")).toMatchObject({ comment: { text: "reply 0" } });
  expect(await find("3lbreply00049")).toMatchObject(retryable("platform_unavailable"));
  cards = [2];
  expect(await find("3lbreply00049")).toEqual({ kind: "missing" });
});
