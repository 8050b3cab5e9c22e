import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EnvReader } from "@postrider/shared/config";
import { readOutboundAllow } from "@postrider/shared/http/addresses";
import { OutboundClient } from "@postrider/shared/http/outbound-client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createBlueskyPublishingConnector } from "#src/bluesky/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import { pngMedia } from "../test-media.ts";
import { guard, TestPlatform } from "../test-platform.ts";

const HTML = { "content-type": "text/html; charset=utf-8" };
const PAGE = "<title>Häfen</title><meta name=description content='Wo Schiffe liegen'>";

let platform: TestPlatform;
let site: Server;
let port: number;
let requests = 0;
let answer: (response: ServerResponse, path: string) => void;
let bluesky: PublishingConnector;

beforeAll(async () => {
  platform = await TestPlatform.start("bluesky");
  site = createServer((request, response) => {
    requests += 1;
    answer(response, request.url ?? "");
  });
  await new Promise<void>((resolve) => {
    site.listen(0, "127.0.0.1", resolve);
  });
  port = (site.address() as AddressInfo).port;
  const allow = readOutboundAllow(new EnvReader({ OUTBOUND_ALLOW: `127.0.0.1:${port}` }));
  const urls = { baseUrl: platform.url, videoBaseUrl: platform.url };
  const pages = new OutboundClient({ allow, resolve: () => Promise.resolve(["127.0.0.1"]) });
  bluesky = createBlueskyPublishingConnector(urls, pages);
});
afterAll(async () => {
  site.closeAllConnections();
  site.close();
  await platform[Symbol.asyncDispose]();
});
beforeEach(async () => {
  requests = 0;
  answer = (response) => response.writeHead(200, HTML).end(PAGE);
  await platform.reset();
});

const link = (path = "/ships") => `http://harbour.example.com:${port}${path}`;

/** Publishes the text on Bluesky and reads its record in the repository. */
async function publish(text: string, media: readonly ReturnType<typeof pngMedia>[] = []) {
  const publication = await platform.createPublication(media, text);
  const { handles } = await platform.prepare(bluesky, publication);
  expect(await bluesky.publish(publication, handles, guard)).toMatchObject({ kind: "published" });
  const query = `repo=${publication.externalId}&collection=app.bsky.feed.post&rkey=${handles.rkey}`;
  const record = await fetch(`${platform.url}/xrpc/com.atproto.repo.getRecord?${query}`);
  const { value } = (await record.json()) as { value: { embed?: unknown; facets?: unknown[] } };
  return { ...value, publication, handles };
}

test("a Bluesky post with a link and no files has a link card, and the linked page is read once", async () => {
  const { embed, publication, handles } = await publish(`See ${link()} and example.com`);
  expect(embed).toEqual({
    $type: "app.bsky.embed.external",
    external: { uri: link(), title: "Häfen", description: "Wo Schiffe liegen" },
  });
  expect(requests).toBe(1);
  // The prepared record does not change when the linked page changes later.
  answer = (response) => response.writeHead(200, HTML).end("<title>Changed</title>");
  const again = await platform.prepare(bluesky, publication, { handles });
  expect(again.handles).toEqual(handles);
  expect(await bluesky.publish(publication, handles, guard)).toMatchObject({ kind: "published" });
  expect(await platform.visible()).toHaveLength(1);
});

test("the link card of a page that redirects shows the title of the final page and keeps the link from the text", async () => {
  answer = (response, path) =>
    path === "/ships"
      ? response.writeHead(302, { location: "/harbour" }).end()
      : response.writeHead(200, HTML).end(PAGE);
  expect((await publish(link())).embed).toMatchObject({
    external: { uri: link(), title: "Häfen" },
  });
});

const PICTURE = pngMedia(7).content;
const WITH_PICTURE = `${PAGE}<meta property="og:image" content="/ship.png">`;

/**
 * Serves a web page that names a preview picture, and answers requests for the picture in the given
 * way.
 */
function answerPicture(type: string, bytes: Uint8Array): typeof answer {
  return (response, path) =>
    path === "/ship.png"
      ? response.writeHead(200, { "content-type": type }).end(bytes)
      : response.writeHead(200, HTML).end(WITH_PICTURE);
}

test("a link card shows the picture that the linked page names", async () => {
  answer = answerPicture("image/png", PICTURE);
  expect((await publish(link())).embed).toMatchObject({
    external: { title: "Häfen", thumb: { $type: "blob", mimeType: "image/png" } },
  });
});

test.each<[string, string, Uint8Array]>([
  ["larger than Bluesky accepts", "image/png", Buffer.alloc(1_000_001)],
  ["not a picture", "text/html", PICTURE],
])("a link card is shown without a picture that is %s", async (_, type, bytes) => {
  answer = answerPicture(type, bytes);
  const { embed } = await publish(link());
  expect(embed).toMatchObject({ external: { title: "Häfen" } });
  expect(embed).not.toMatchObject({ external: { thumb: expect.anything() as unknown } });
});

test("a picture that Bluesky may have deleted since its upload is left out of the prepared link card", async () => {
  answer = answerPicture("image/png", PICTURE);
  const publication = await platform.createPublication([], link());
  const { handles } = await platform.prepare(bluesky, publication);
  const { blob } = JSON.parse(handles.blobcard ?? "") as { blob: unknown };
  const stale = { ...handles, blobcard: JSON.stringify({ blob, uploadedAt: 0 }) };
  const again = await platform.prepare(bluesky, publication, { handles: stale });
  expect(again.handles.record).toContain("Häfen");
  expect(again.handles.record).not.toContain("thumb");
  expect(again.handles.rkey).toBe(handles.rkey);
});

test("a Bluesky post with files has no link card, and the linked page is not read", async () => {
  const { embed } = await publish(link(), [pngMedia(1)]);
  expect(embed).toMatchObject({ $type: "app.bsky.embed.images" });
  expect(requests).toBe(0);
});

test.each<[string, typeof answer]>([
  ["is missing", (response) => response.writeHead(404, HTML).end(PAGE)],
  ["is not HTML", (response) => response.writeHead(200, { "content-type": "image/png" }).end()],
  ["breaks off", (response) => response.destroy()],
  ["never answers", () => undefined],
])(
  "a linked page that %s gets no link card, and the post is published with its link",
  async (_, how) => {
    answer = how;
    const { embed, facets } = await publish(`See ${link()}`);
    expect(embed).toBeUndefined();
    expect(facets).toHaveLength(1);
  },
);

test("the Bluesky connector does not connect to a private address to read a linked page", async () => {
  const urls = { baseUrl: platform.url, videoBaseUrl: platform.url };
  const pages = new OutboundClient({ allow: [], resolve: () => Promise.resolve(["127.0.0.1"]) });
  const closed = createBlueskyPublishingConnector(urls, pages);
  const publication = await platform.createPublication([], link());
  const { handles } = await platform.prepare(closed, publication);
  expect(handles.record).not.toContain("embed");
  expect(requests).toBe(0);
  await expect(platform.publish(closed, publication)).resolves.toMatchObject({ kind: "published" });
});

test("when a process stops while it reads a linked page, preparing the Bluesky post fails instead of leaving out the link card", async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  answer = () => resolve();
  const publication = await platform.createPublication([], link());
  const stopping = new AbortController();
  const [step] = bluesky.steps(publication);
  const made = step?.run(publication, {}, stopping.signal);
  await asked;
  stopping.abort(new Error("stopping"));
  await expect(made).rejects.toThrow("stopping");
});
