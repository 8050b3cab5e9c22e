import { createServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type Answer,
  type Body,
  itemsOf,
  mp4Bytes,
  pngBytes,
  type TestAccount,
  TestSimulator,
  textOf,
} from "#src/testing.ts";

let simulator: TestSimulator;
let page: TestAccount;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  page = await simulator.account("facebook");
});
afterEach(() => simulator[Symbol.asyncDispose]());

type Options = NonNullable<Parameters<TestSimulator["call"]>[2]>;

const call = (method: string, path: string, options: Options = {}): Promise<Answer> =>
  simulator.call(method, `/facebook/v25.0/${path}`, {
    token: page.credentials["accessToken"] ?? "",
    ...options,
  });
const feed = (form: Record<string, string>) => call("POST", `${page.externalId}/feed`, { form });
const read = (id: string, fields: string) => call("GET", `${id}?fields=${fields}`);
const visible = async () => itemsOf(await simulator.control("/visible?platform=facebook"));
const advance = (advanceMs: number) => simulator.control("/clock", { advanceMs });
const errorOf = ({ status, body }: Answer) => [
  status,
  body["error"]?.["code"],
  body["error"]?.["error_subcode"],
];

function filePart(name: string, bytes: Buffer, fields: Record<string, string> = {}): FormData {
  const parts = new FormData();
  for (const [field, value] of Object.entries(fields)) parts.set(field, value);
  parts.set(name, new Blob([new Uint8Array(bytes)]), "file");
  return parts;
}

async function uploadPhoto(nonce: number): Promise<string> {
  const parts = filePart("source", pngBytes(nonce), { published: "false" });
  const { body } = await call("POST", `${page.externalId}/photos`, { parts });
  return textOf(body["id"]);
}

const attach = (...ids: string[]) => JSON.stringify(ids.map((id) => ({ media_fbid: id })));

test("a simulated Facebook post is visible as soon as it is published, and publishing it again changes nothing", async () => {
  const made = await feed({ message: "Soon", published: "false" });
  const id = textOf(made.body["id"]);
  expect(await visible()).toEqual([]);
  expect((await call("GET", `${page.externalId}/published_posts`)).body["data"]).toEqual([]);
  expect((await read(id, "is_published")).body["is_published"]).toBe(false);

  for (let times = 0; times < 2; times += 1) {
    const flipped = await call("POST", id, { form: { is_published: "true" } });
    expect(flipped.body).toEqual({ success: true });
  }

  expect(await visible()).toMatchObject([{ id, text: "Soon", createCalls: 2 }]);
  const fields = "id,message,permalink_url";
  const listed = await call("GET", `${page.externalId}/published_posts?fields=${fields}`);
  expect(itemsOf(listed.body["data"])).toMatchObject([{ id, message: "Soon" }]);
  expect(errorOf(await call("POST", id, { form: { is_published: "false" } }))).toEqual([
    400,
    100,
    undefined,
  ]);
});

test("the simulated Facebook refuses a post with the text of the Page's newest post, but accepts the text of an older post", async () => {
  expect((await feed({ message: "Same" })).status).toBe(200);
  expect(errorOf(await feed({ message: "Same" }))).toEqual([400, 506, undefined]);
  await feed({ message: "Other" });
  expect((await feed({ message: "Same" })).status).toBe(200);
});

test("a simulated Facebook post shows its photos, and a second post cannot use the same photo", async () => {
  const [one, two] = [await uploadPhoto(1), await uploadPhoto(2)];
  const made = await feed({ message: "Two", attached_media: attach(two, one) });
  expect(made.status).toBe(200);
  expect(itemsOf((await visible())[0]?.["media"])).toHaveLength(2);
  expect(errorOf(await feed({ attached_media: attach(one) }))).toEqual([400, 100, 1_366_051]);
});

test("with the setting `repeatedPosts`, the simulated Facebook takes the text and the photos of a post again", async () => {
  await simulator.control("/settings", { repeatedPosts: "accepted" });
  const form = { message: "Same", attached_media: attach(await uploadPhoto(1)) };
  for (const sent of [form, form, { message: "Same" }, { message: "Same" }])
    expect((await feed(sent)).status).toBe(200);
  expect(await visible()).toHaveLength(4);
});

test.each<[string, Record<string, string>]>([
  ["no content", {}],
  ["an unknown parameter", { message: "x", mesage: "y" }],
  ["an unknown photo", { attached_media: attach("12") }],
  ["a number as attached media", { attached_media: "12" }],
  ["an invalid link", { link: "nowhere" }],
  ["an invalid flag", { message: "x", published: "maybe" }],
  ["a text that is too long", { message: "x".repeat(63_207) }],
])("the simulated Facebook answers error code 100 to a post with %s", async (_name, form) => {
  expect(errorOf(await feed(form)).slice(0, 2)).toEqual([400, 100]);
  expect(await visible()).toEqual([]);
});

test("a deleted post of the simulated Facebook is not visible and cannot be read or deleted again", async () => {
  const id = textOf((await feed({ message: "Short" })).body["id"]);
  expect((await call("DELETE", id)).body).toEqual({ success: true });
  expect(await visible()).toEqual([]);
  expect(errorOf(await call("DELETE", id))).toEqual([400, 100, 33]);
  expect(errorOf(await read(id, "id"))).toEqual([400, 100, 33]);
});

test("a simulated Facebook Page can read a published post of another Page, but not its insights or unpublished posts, and cannot delete it", async () => {
  const id = textOf((await feed({ message: "Mine" })).body["id"]);
  const other = await simulator.account("facebook");
  const token = other.credentials["accessToken"] ?? "";
  expect((await call("GET", id, { token })).status).toBe(200);
  const insights = `${id}?fields=insights.metric(post_media_view)`;
  expect(errorOf(await call("GET", insights, { token }))).toEqual([400, 100, 33]);
  expect(errorOf(await call("DELETE", id, { token }))).toEqual([400, 100, 33]);
  const draft = textOf((await feed({ message: "Draft", published: "false" })).body["id"]);
  expect(errorOf(await call("GET", draft, { token }))).toEqual([400, 100, 33]);
});

describe("Facebook photos", () => {
  let server: Server | undefined;
  afterEach(() => server?.close());

  async function serveFiles(): Promise<string> {
    const made = createServer((request, response) => {
      if (request.url === "/moved") {
        response.writeHead(302, { location: "/photo" }).end();
        return;
      }
      const type = request.url === "/page" ? "text/html" : "image/png";
      response.writeHead(200, { "content-type": type }).end(pngBytes(7));
    });
    server = made;
    await new Promise<void>((resolve) => {
      made.listen(0, "127.0.0.1", resolve);
    });
    return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
  }

  test("the simulated Facebook fetches a photo from its URL, but refuses a redirect and an HTML page", async () => {
    const base = await serveFiles();
    const photo = (path: string) =>
      call("POST", `${page.externalId}/photos`, { form: { url: `${base}${path}`, caption: "Hi" } });
    expect(errorOf(await photo("/moved"))).toEqual([400, 324, 2_069_019]);
    expect(errorOf(await photo("/page"))).toEqual([400, 324, 2_069_019]);
    const { body } = await photo("/photo");
    const [shown] = await visible();
    expect(shown).toMatchObject({ id: body["post_id"], text: "Hi" });
    expect(itemsOf(shown?.["media"])).toHaveLength(1);
  });

  test.each([
    ["is not an image", Buffer.from("text")],
    ["is too large", Buffer.concat([pngBytes(), Buffer.alloc(4_000_000)])],
  ])("the simulated Facebook refuses a photo that %s", async (_name, bytes) => {
    const parts = filePart("source", bytes);
    const answer = await call("POST", `${page.externalId}/photos`, { parts });
    expect(errorOf(answer)).toEqual([400, 100, 1_366_046]);
  });
});

describe("Facebook videos", () => {
  const videos = (options: Options) => call("POST", `${page.externalId}/videos`, options);
  const videoBytes = mp4Bytes(5_000_000);

  async function begin(): Promise<Body> {
    const form = { upload_phase: "start", file_size: String(videoBytes.length) };
    return (await videos({ form })).body;
  }

  function transfer(session: Body | undefined, start: number, end: number): Promise<Answer> {
    const fields = {
      upload_phase: "transfer",
      upload_session_id: textOf(session),
      start_offset: String(start),
    };
    const parts = filePart("video_file_chunk", videoBytes.subarray(start, end), fields);
    return videos({ parts });
  }

  test("a simulated Facebook video that is uploaded in chunks is processed before it can be published", async () => {
    const { upload_session_id: session, video_id: video, end_offset: end } = await begin();
    const id = textOf(video);
    const next = Number(textOf(end));
    await transfer(session, 0, next);
    const wrong = await transfer(session, 0, next);
    expect(errorOf(wrong)).toEqual([400, 6001, 1_363_037]);
    expect(wrong.body["error"]?.["error_data"]?.["start_offset"]).toBe(String(next));
    const finish = {
      upload_phase: "finish",
      upload_session_id: textOf(session),
      description: "Video",
      published: "false",
    };
    expect(errorOf(await videos({ form: finish }))).toEqual([400, 6000, 1_363_026]);
    await transfer(session, next, videoBytes.length);
    expect((await videos({ form: finish })).body).toEqual({ success: true });
    expect((await read(id, "status")).body["status"]?.["video_status"]).toBe("processing");
    await advance(2000);
    const ready = await read(id, "status,published,permalink_url");
    expect(ready.body).toMatchObject({
      published: false,
      permalink_url: `/${page.externalId}/videos/${id}/`,
      status: { video_status: "ready", uploading_phase: { bytes_transfered: videoBytes.length } },
    });
    expect(await visible()).toEqual([]);
    for (let times = 0; times < 2; times += 1)
      expect((await call("POST", id, { form: { published: "true" } })).status).toBe(200);
    expect(await visible()).toMatchObject([{ id, text: "Video", createCalls: 2 }]);
  });

  test("a simulated Facebook video whose bytes are not a video fails processing and cannot be published", async () => {
    const parts = filePart("source", Buffer.from("not a video"), { published: "false" });
    const id = textOf((await videos({ parts })).body["id"]);
    await advance(2000);
    expect((await read(id, "status")).body["status"]?.["video_status"]).toBe("error");
    const flip = await call("POST", id, { form: { published: "true" } });
    expect(errorOf(flip)).toEqual([400, 352, undefined]);
  });
});

describe("Facebook reels", () => {
  const reels = (form: Record<string, string>) =>
    call("POST", `${page.externalId}/video_reels`, { form });
  const videoBytes = mp4Bytes(3000);

  async function push(url: string, offset: number, bytes: Buffer): Promise<Answer> {
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        authorization: `OAuth ${page.credentials["accessToken"]}`,
        offset: String(offset),
        file_size: String(videoBytes.length),
      },
      body: new Uint8Array(bytes),
    });
    const { status, headers } = answer;
    return { status, headers, body: (await answer.json()) as Body };
  }

  test("an interrupted simulated Facebook reel upload can be resumed, and finishing it twice publishes one reel", async () => {
    const { body } = await reels({ upload_phase: "start" });
    const [id, url] = [textOf(body["video_id"]), textOf(body["upload_url"])];
    const part = await push(url, 0, videoBytes.subarray(0, 1000));
    expect(part.body["debug_info"]?.["type"]).toBe("PartialRequestError");
    const { body: status } = await read(id, "status");
    expect(status["status"]?.["uploading_phase"]).toMatchObject({ bytes_transfered: 1000 });
    const wrong = await push(url, 0, videoBytes);
    expect(wrong.body["debug_info"]?.["type"]).toBe("OffsetInvalidError");
    expect((await push(url, 1000, videoBytes.subarray(1000))).body["success"]).toBe(true);
    const finish = { upload_phase: "finish", video_id: id, description: "Reel" };
    await advance(2000);
    for (let times = 0; times < 2; times += 1)
      expect((await reels({ ...finish, video_state: "PUBLISHED" })).body).toEqual({
        success: true,
      });
    expect(await visible()).toMatchObject([{ id, text: "Reel", createCalls: 2 }]);
    await advance(1000);
    const { body: done } = await read(id, "status");
    expect(done["status"]?.["publishing_phase"]).toMatchObject({ publish_status: "published" });
  });

  test("the simulated Facebook refuses to finish a reel whose bytes are missing, and refuses the 31st reel within a day", async () => {
    const { body } = await reels({ upload_phase: "start" });
    const early = { upload_phase: "finish", video_id: textOf(body["video_id"]) };
    const refused = await reels({ ...early, video_state: "PUBLISHED" });
    expect(errorOf(refused)).toEqual([400, 6000, 1_363_026]);
    const finish = async () => {
      const started = (await reels({ upload_phase: "start" })).body;
      await push(textOf(started["upload_url"]), 0, videoBytes);
      const video = textOf(started["video_id"]);
      return reels({ upload_phase: "finish", video_id: video, video_state: "PUBLISHED" });
    };
    for (let reel = 0; reel < 30; reel += 1) expect((await finish()).status).toBe(200);
    expect(errorOf(await finish())).toEqual([400, 613, undefined]);
  });
});

test("the simulated Facebook answers error code 190 to a call with an unknown token or with the token of a user who removed the app", async () => {
  expect(errorOf(await call("GET", "me", { token: "unknown" }))).toEqual([401, 190, 467]);
  expect((await call("DELETE", "me/permissions")).body).toEqual({ success: true });
  expect(errorOf(await call("GET", "me"))).toEqual([401, 190, 458]);
});

test("the simulated Facebook refuses to read several posts with one call", async () => {
  expect(errorOf(await call("GET", "?ids=me,me&fields=id"))).toEqual([500, 100, undefined]);
});

test("the simulated Facebook refuses calls over the limit of calls per day and states in the usage header how long to wait", async () => {
  let answer = await call("GET", "me");
  expect(answer.headers.get("x-business-use-case-usage")).toContain('"call_count":0');
  await simulator.control("/settings", { graphCallsPerDay: 20 });
  for (let calls = 2; calls <= 20; calls += 1) {
    answer = await call("GET", "me");
    expect(answer.status).toBe(200);
  }
  expect(answer.headers.get("x-business-use-case-usage")).toContain('"call_count":100');
  answer = await call("GET", "me");
  expect(errorOf(answer)).toEqual([400, 80_001, undefined]);
  const usage = JSON.parse(answer.headers.get("x-business-use-case-usage") ?? "") as Body;
  const [entry] = itemsOf(usage[page.externalId]);
  expect(entry).toMatchObject({ type: "pages", estimated_time_to_regain_access: 1440 });
});

test("the simulated Facebook returns the metrics of a post and refuses a request with an invalid metric name", async () => {
  const post = textOf((await feed({ message: "Ask me" })).body["id"]);
  const given = { platform: "facebook", account: page.username, id: post };
  await simulator.control("/metrics", { ...given, views: 12, likes: 3 });
  const metrics = (names: string) => call("GET", `${post}?fields=insights.metric(${names})`);
  const { body } = await metrics("post_media_view,post_reactions_by_type_total");
  const insights = itemsOf(body["insights"]?.["data"]);
  expect(insights.map((one) => itemsOf(one["values"])[0]?.["value"])).toEqual([12, { like: 3 }]);
  const wrong = await metrics("post_media_view,post_impressions");
  expect(errorOf(wrong)).toEqual([400, 100, undefined]);
});
