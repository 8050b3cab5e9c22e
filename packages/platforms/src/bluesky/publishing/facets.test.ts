import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { RichText } from "@atproto/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createFacets, findMentions, resolveMentions } from "./facets.ts";
import { openBluesky } from "./xrpc.ts";

const features = (text: string, dids: ReadonlyMap<string, string> = new Map()) =>
  createFacets(text, dids).map(({ index, features: [feature] }) => [
    Buffer.from(text, "utf8").subarray(index.byteStart, index.byteEnd).toString("utf8"),
    feature?.uri ?? feature?.tag ?? feature?.did,
  ]);

test("the facets of links, tags and mentions in a Bluesky text have correct byte offsets, even after emoji", () => {
  const text = "🎉 hi https://example.com/a?b=1. and #tag @alice.test (https://x.org/z)";
  expect(features(text, new Map([["alice.test", "did:plc:1"]]))).toEqual([
    ["https://example.com/a?b=1", "https://example.com/a?b=1"],
    ["#tag", "tag"],
    ["@alice.test", "did:plc:1"],
    ["https://x.org/z", "https://x.org/z"],
  ]);
});

test("a mention in a Bluesky text stays plain text when its handle does not resolve to an account", () => {
  expect(findMentions("ask @bob.example.com").map(({ handle }) => handle)).toEqual([
    "bob.example.com",
  ]);
  expect(features("ask @bob.example.com")).toEqual([]);
});

test("`#` with digits only, a lone `#` and a `#` inside a word are not tags in a Bluesky text, and a tag ends before punctuation", () => {
  expect(features("#1 # a#b #ok! #日本語")).toEqual([
    ["#ok", "ok"],
    ["#日本語", "日本語"],
  ]);
});

/**
 * The links and tags that Bluesky's own library finds. Mentions differ, because they are resolved
 * later.
 */
function findOfficially(text: string) {
  const richText = new RichText({ text });
  richText.detectFacetsWithoutResolution();
  return (richText.facets ?? [])
    .filter(({ features: [feature] }) => !feature?.$type?.endsWith("#mention"))
    .map(({ index: { byteStart, byteEnd }, features: [feature] }) => ({
      index: { byteStart, byteEnd },
      features: [feature],
    }));
}

test.each([
  ["日本 https://ja.wikipedia.org/wiki/日本 を見る", ["https://ja.wikipedia.org/wiki/日本"]],
  ["https://example.com#section here", ["https://example.com#section"]],
  ["https://example.com/path?q=a{b}c", ["https://example.com/path?q=a{b}c"]],
  [
    "(https://example.com/a_(b)), https://example.com/c)",
    ["https://example.com/a_(b))", "https://example.com/c"],
  ],
  [
    "http://127.0.0.1:8080/x http://localhost https://a.unknowntld",
    ["http://127.0.0.1:8080/x", "http://localhost", "https://a.unknowntld"],
  ],
  ["example.com/ü, notes.txt", ["https://example.com/ü"]],
  ["buy $AAPL, $tsla! not $TOOLONG or a$B", ["$AAPL", "$TSLA"]],
  ["#1-2 #a-1 #2b.", ["a-1", "2b"]],
  [`#${"👍🏽".repeat(64)} #${"a".repeat(65)}`, ["👍🏽".repeat(64)]],
])(
  "the Bluesky connector finds in the text %j the same links and tags as Bluesky's own library",
  (text, values) => {
    const facets = createFacets(text, new Map());
    expect(facets.map(({ features: [feature] }) => feature?.uri ?? feature?.tag)).toEqual(values);
    expect(facets).toEqual(findOfficially(text));
  },
);

/**
 * No capital follows a dot: we find links with capitals in their domain, and Bluesky's own library
 * does not.
 */
const PIECES = [
  ...Array.from(" \n()#$.,;:!?az1-_/é日한😀＃'\"{}^—"),
  "http://",
  "https://",
  "example.com",
  "a.b.",
  "co.kr",
  "localhost",
  "127.0.0.1",
  "\ufe0f",
  "\u200d",
  "\u20e2",
  "$AAPL",
  "#tag",
];

test("createFacets finds the same links and tags as Bluesky's own library in any mixture of letters, links and punctuation", () => {
  const texts = fc.array(fc.constantFrom(...PIECES), { maxLength: 20 });
  fc.assert(
    fc.property(texts, (pieces) => {
      const text = pieces.join("");
      const byPosition = findOfficially(text).toSorted(
        (a, b) => a.index.byteStart - b.index.byteStart,
      );
      expect(createFacets(text, new Map())).toEqual(byPosition);
    }),
    { numRuns: 5000 },
  );
});

async function mentionsFrom(
  answer: (handle: string, response: ServerResponse) => void,
  content: string,
) {
  await using server = createServer((request, response) => {
    answer(
      new URL(request.url ?? "", "http://localhost").searchParams.get("handle") ?? "",
      response,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const account = { externalId: "did:plc:owner", username: "", accessToken: "", attributes: {} };
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bluesky = openBluesky(baseUrl)(account, AbortSignal.timeout(10_000));
  const found = await resolveMentions(bluesky, content);
  server.closeAllConnections();
  return found;
}

test("a mention is left out of a Bluesky post if the server answers with a DID that no account has", async () => {
  const dids: Readonly<Record<string, string>> = {
    "a.example": "did:plc:abc",
    "b.example": `did:web:${"b".repeat(257)}`,
    "c.example": "c",
  };
  const found = await mentionsFrom((handle, response) => {
    response.end(JSON.stringify({ did: dids[handle] }));
  }, "@a.example @b.example @c.example");
  expect(found).toEqual(new Map([["a.example", "did:plc:abc"]]));
});

test("a mention is left out of a Bluesky post only if the server says that no account has the handle", async () => {
  const mention = (status: number, error: string) =>
    mentionsFrom((_handle, response) => {
      response.writeHead(status, { "retry-after": "7" }).end(JSON.stringify({ error }));
    }, "@a.example");
  expect(await mention(400, "InvalidRequest")).toEqual(new Map());
  expect(await mention(429, "RateLimitExceeded")).toMatchObject({ code: "rate_limited" });
  expect(await mention(502, "UpstreamFailure")).toMatchObject({ code: "platform_unavailable" });
});
