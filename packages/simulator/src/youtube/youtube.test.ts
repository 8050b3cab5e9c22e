import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  type Body,
  itemsOf,
  mp4Bytes,
  type TestAccount,
  TestSimulator,
  textOf,
} from "#src/testing.ts";

const KB = 1024;
const PATH = "/youtube/upload/youtube/v3/videos";
const API = "/youtube/youtube/v3";

let simulator: TestSimulator;
let channel: TestAccount;
let token: string;

beforeEach(async () => {
  simulator = await TestSimulator.start();
  channel = await simulator.account("youtube");
  token = channel.credentials["accessToken"] ?? "";
});

afterEach(() => simulator[Symbol.asyncDispose]());

interface Video {
  readonly snippet?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

const VIDEO: Video = {
  snippet: { title: "A title", description: "Words", tags: ["one", "two words"], categoryId: "22" },
  status: { privacyStatus: "public", selfDeclaredMadeForKids: false },
};
const withSnippet = (part: object): Video => ({ ...VIDEO, snippet: { ...VIDEO.snippet, ...part } });
const withStatus = (part: object): Video => ({ ...VIDEO, status: { ...VIDEO.status, ...part } });

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

async function call(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | Buffer | null = null,
): Promise<Answer> {
  const sent = typeof body === "string" || body === null ? body : new Uint8Array(body);
  const response = await fetch(url, { method, headers, body: sent, redirect: "manual" });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  const parsed = (isJson ? JSON.parse(text) : text) as Body;
  return { status: response.status, headers: response.headers, body: parsed };
}

const DEFAULT_QUERY = "uploadType=resumable&part=snippet,status&notifySubscribers=true";

function begin(
  video: unknown,
  options: { bytes?: number; query?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { bytes, query = DEFAULT_QUERY, headers = {} } = options;
  const length = bytes === undefined ? {} : { "x-upload-content-length": String(bytes) };
  return call(
    "POST",
    `${simulator.url}${PATH}?${query}`,
    {
      authorization: `Bearer ${token}`,
      "content-type": "application/json; charset=UTF-8",
      "x-upload-content-type": "video/mp4",
      ...length,
      ...headers,
    },
    JSON.stringify(video),
  );
}

async function openSession(video: unknown = VIDEO, bytes?: number): Promise<string> {
  const answer = await begin(video, bytes === undefined ? {} : { bytes });
  expect(answer.status).toBe(200);
  return answer.headers.get("location") ?? "";
}

const put = (session: string, range: string, body: Buffer | null = null) =>
  call("PUT", session, { "content-range": `bytes ${range}` }, body);
const query = (session: string, bytes: number | string = "*") => put(session, `*/${bytes}`);
const get = (path: string) => simulator.call("GET", `${API}/${path}`, { token });

async function upload(bytes: Buffer, video: unknown = VIDEO): Promise<string> {
  const answer = await call("PUT", await openSession(video), {}, bytes);
  expect(answer.status).toBe(201);
  return textOf(answer.body["id"]);
}

const reasonOf = ({ body }: Answer) => body["error"]?.["errors"]?.[0]?.["reason"];
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

test("the simulated YouTube accepts a video in one request and shows readers the video's description and bytes", async () => {
  const bytes = mp4Bytes(3000);
  const answer = await call("PUT", await openSession(VIDEO, bytes.length), {}, bytes);
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({
    kind: "youtube#video",
    id: expect.stringMatching(/^[\w-]{11}$/) as string,
    snippet: { ...VIDEO.snippet, channelId: channel.externalId },
    status: { uploadStatus: "uploaded", privacyStatus: "public", madeForKids: false },
  });
  expect(await simulator.control("/visible?platform=youtube")).toMatchObject([
    {
      id: answer.body["id"],
      account: channel.externalId,
      text: "Words",
      media: [{ kind: "video", sha256: sha256(bytes) }],
      createCalls: 1,
    },
  ]);
});

test("the simulated YouTube accepts consecutive parts in multiples of 256 KiB and reports the stored bytes with status 308 and the header Range", async () => {
  const bytes = mp4Bytes(600 * KB);
  const session = await openSession(VIDEO, bytes.length);
  const total = bytes.length;
  expect((await query(session, total)).headers.get("range")).toBeNull();
  expect((await put(session, `0-999/${total}`, bytes.subarray(0, 1000))).status).toBe(400);
  const second = bytes.subarray(256 * KB, 512 * KB);
  expect((await put(session, `262144-524287/${total}`, second)).status).toBe(400);
  const first = await put(session, `0-262143/${total}`, bytes.subarray(0, 256 * KB));
  expect([first.status, first.headers.get("range")]).toEqual([308, "bytes=0-262143"]);
  expect((await put(session, `262144-524287/${total}`, bytes.subarray(0, 7))).status).toBe(400);
  expect((await put(session, `262144-524287/${total + 1}`, second)).status).toBe(400);
  expect((await put(session, "262144-524287/x", second)).status).toBe(400);
  expect((await put(session, `262144-524287/${total}`, second)).headers.get("range")).toBe(
    "bytes=0-524287",
  );
  const queried = await query(session, total);
  expect([queried.status, queried.headers.get("range")]).toEqual([308, "bytes=0-524287"]);
  const overlapping = bytes.subarray(256 * KB);
  const last = await put(session, `262144-${total - 1}/${total}`, overlapping);
  expect(last.status).toBe(201);
  const [visible] = itemsOf(await simulator.control("/visible?platform=youtube"));
  expect(visible?.["media"]).toEqual([{ kind: "video", sha256: sha256(bytes) }]);
});

test("the simulated YouTube answers every further call to a completed upload session with the video that the session created", async () => {
  const bytes = mp4Bytes(1000);
  const session = await openSession();
  const made = await put(session, "0-999/1000", bytes);
  const again = await put(session, "0-999/1000", bytes);
  const queried = await query(session, 1000);
  expect([again.status, queried.status]).toEqual([200, 200]);
  expect([again.body["id"], queried.body["id"]]).toEqual([made.body["id"], made.body["id"]]);
  const visible = itemsOf(await simulator.control("/visible?platform=youtube"));
  expect(visible.map((video) => video["createCalls"])).toEqual([2]);
});

test("the simulated YouTube answers calls to an expired or unknown upload session with status 404", async () => {
  const session = await openSession();
  await simulator.control("/clock", { advanceMs: 7 * 86_400_000 });
  expect((await query(session)).status).toBe(404);
  expect((await put(session, "0-999/1000", mp4Bytes(1000))).status).toBe(404);
  expect((await query(`${simulator.url}${PATH}?upload_id=nonsense`)).status).toBe(404);
});

test("a call to an upload session of the simulated YouTube needs no token, but a call with an invalid token is refused", async () => {
  const session = await openSession();
  const other = await simulator.account("youtube");
  for (const wrong of ["nonsense", other.credentials["accessToken"] ?? ""]) {
    const headers = { authorization: `Bearer ${wrong}`, "content-range": "bytes */1000" };
    expect((await call("PUT", session, headers)).status).toBe(401);
  }
  expect((await query(session, 1000)).status).toBe(308);
});

test.each<[string, string, unknown]>([
  ["an empty title", "invalidTitle", withSnippet({ title: "" })],
  ["no title", "invalidTitle", withSnippet({ title: undefined })],
  ["a title of 101 characters", "invalidTitle", withSnippet({ title: "x".repeat(101) })],
  ["angle brackets in the title", "invalidTitle", withSnippet({ title: "a <b>" })],
  [
    "a description of 5,002 bytes",
    "invalidDescription",
    withSnippet({ description: "é".repeat(2501) }),
  ],
  [
    "an angle bracket in the description",
    "invalidDescription",
    withSnippet({ description: "a > b" }),
  ],
  [
    "tags of more than 500 characters",
    "invalidTags",
    withSnippet({ tags: ["a".repeat(498), "b c"] }),
  ],
  ["a blank tag", "invalidTags", withSnippet({ tags: ["a", " "] })],
  ["an angle bracket in a tag", "invalidTags", withSnippet({ tags: ["I <3 it"] })],
  ["tags that are a string", "invalidTags", withSnippet({ tags: "a,b" })],
  ["an unknown category", "invalidCategoryId", withSnippet({ categoryId: "999" })],
  ["an unknown privacy status", "invalidVideoMetadata", withStatus({ privacyStatus: "secret" })],
  ["an unknown license", "invalidVideoMetadata", withStatus({ license: "mine" })],
  [
    "a publication time and a status that is not private",
    "invalidPublishAt",
    withStatus({ publishAt: "2099-01-01T00:00:00Z" }),
  ],
  ["a flag that is a string", "badRequest", withStatus({ selfDeclaredMadeForKids: "no" })],
  ["an unknown field in a part", "badRequest", withStatus({ colour: "red" })],
  ["an unknown part", "badRequest", { ...VIDEO, colour: "red" }],
  ["an array instead of an object", "parseError", []],
])(
  "the simulated YouTube refuses a video resource with %s and gives the reason %s",
  async (_name, reason, video) => {
    const answer = await begin(video);
    expect([answer.status, reasonOf(answer)]).toEqual([400, reason]);
  },
);

test("the simulated YouTube accepts a title of 100 characters, a description of 5,000 bytes and tags of 500 characters", async () => {
  const snippet = {
    title: "x".repeat(100),
    description: "é".repeat(2500),
    tags: ["a".repeat(494), "b c"],
  };
  expect((await begin(withSnippet(snippet))).status).toBe(200);
});

test("the simulated YouTube refuses an upload session with a wrong header, `part` or `uploadType`, and names the reason", async () => {
  const resumable = "uploadType=resumable&part=snippet,status";
  const answers = [
    await begin(VIDEO, { query: "uploadType=resumable&part=snippet" }),
    await begin(VIDEO, { query: "uploadType=resumable" }),
    await begin(VIDEO, { query: "uploadType=resumable&part=snippet,status,colour" }),
    await begin(VIDEO, { query: "uploadType=media&part=snippet,status" }),
    await begin(VIDEO, { query: `${resumable}&colour=red` }),
    await begin(VIDEO, { headers: { "x-upload-content-type": "image/png" } }),
    await begin(VIDEO, { headers: { "x-upload-content-length": "0" } }),
    await begin(VIDEO, { headers: { "content-type": "text/plain" } }),
  ];
  expect(answers.map((answer) => [answer.status, reasonOf(answer)])).toEqual([
    [400, "unexpectedPart"],
    [400, "missingRequiredParameter"],
    [400, "unknownPart"],
    [400, "badRequest"],
    [400, "badRequest"],
    [400, "badContent"],
    [400, "badRequest"],
    [400, "parseError"],
  ]);
});

test("the simulated YouTube lists private and unlisted videos to their owner but does not show these videos to readers", async () => {
  const hidden = await upload(mp4Bytes(1000, 1), withStatus({ privacyStatus: "private" }));
  const unlisted = await upload(mp4Bytes(1000, 2), withStatus({ privacyStatus: "unlisted" }));
  expect(await simulator.control("/visible?platform=youtube")).toEqual([]);
  const playlistId = channel.externalId.replace(/^UC/, "UU");
  const items = `playlistItems?part=snippet,contentDetails&playlistId=${playlistId}`;
  const listed = itemsOf((await get(items)).body["items"]);
  expect(listed.map((item) => item["contentDetails"]?.["videoId"])).toEqual([unlisted, hidden]);
  const other = await simulator.account("youtube");
  token = other.credentials["accessToken"] ?? "";
  expect((await get(items)).status).toBe(404);
  const seen = (await get(`videos?part=id&id=${hidden},${unlisted}`)).body["items"];
  expect(itemsOf(seen).map((video) => video["id"])).toEqual([unlisted]);
});

test("the simulated YouTube lists a channel's uploads in pages, newest first, and the list does not exist before the first upload", async () => {
  const channels = await get("channels?part=contentDetails,snippet&mine=true");
  const mine = channels.body["items"]?.[0];
  expect(mine).toMatchObject({
    id: channel.externalId,
    snippet: { customUrl: `@${channel.username}` },
  });
  const playlistId = textOf(mine?.["contentDetails"]?.["relatedPlaylists"]?.["uploads"]);
  const list = (more = "") =>
    get(`playlistItems?part=contentDetails&playlistId=${playlistId}&maxResults=2${more}`);
  expect((await list()).body["error"]?.["errors"]?.[0]?.["reason"]).toBe("playlistNotFound");
  const ids: string[] = [];
  for (const nonce of [1, 2, 3]) ids.unshift(await upload(mp4Bytes(1000, nonce)));
  const first = (await list()).body;
  const second = (await list(`&pageToken=${textOf(first["nextPageToken"])}`)).body;
  expect(second["nextPageToken"]).toBeUndefined();
  const listed = [...itemsOf(first["items"]), ...itemsOf(second["items"])];
  expect(listed.map((item) => item["contentDetails"]?.["videoId"])).toEqual(ids);
  expect((await list("&pageToken=nonsense")).status).toBe(400);
});

test("the simulated YouTube finishes processing a video after a delay, and never shows readers a file that is not a video", async () => {
  const good = await upload(mp4Bytes(1000));
  const bad = await upload(Buffer.alloc(1000, "nonsense"));
  const statuses = async () =>
    itemsOf((await get(`videos?part=status&id=${good},${bad}`)).body["items"]).map((video) => [
      video["status"]?.["uploadStatus"],
      video["status"]?.["failureReason"],
    ]);
  expect(await statuses()).toEqual([
    ["uploaded", undefined],
    ["uploaded", undefined],
  ]);
  await simulator.control("/clock", { advanceMs: 2000 });
  expect(await statuses()).toEqual([
    ["processed", undefined],
    ["failed", "invalidFile"],
  ]);
  expect(itemsOf(await simulator.control("/visible?platform=youtube"))).toHaveLength(1);
});

test("the simulated YouTube lets only the owner delete a video, and reports at a second deletion that the video is not found", async () => {
  const id = await upload(mp4Bytes(1000));
  const remove = () => simulator.call("DELETE", `${API}/videos?id=${id}`, { token });
  const own = token;
  const other = await simulator.account("youtube");
  token = other.credentials["accessToken"] ?? "";
  expect((await remove()).status).toBe(403);
  token = own;
  expect((await remove()).status).toBe(204);
  expect(await simulator.visibleTexts("youtube")).toEqual([]);
  const again = await remove();
  expect([again.status, reasonOf(again)]).toEqual([404, "videoNotFound"]);
});

test("a simulated YouTube access token is valid for an hour, a refresh token works repeatedly, and revoking either token invalidates both", async () => {
  const { refreshToken = "" } = channel.credentials;
  const app = { client_id: "app", client_secret: "secret" };
  const renewal = { ...app, grant_type: "refresh_token", refresh_token: refreshToken };
  const renew = () => simulator.call("POST", "/youtube/token", { form: renewal });
  await simulator.control("/clock", { advanceMs: 3_600_000 });
  expect((await get("channels?part=id&mine=true")).status).toBe(401);
  const renewed = (await renew()).body;
  expect(renewed).toMatchObject({ expires_in: 3600, token_type: "Bearer" });
  expect(renewed["refresh_token"]).toBeUndefined();
  token = textOf(renewed["access_token"]);
  expect((await get("channels?part=id&mine=true")).status).toBe(200);
  expect((await renew()).status).toBe(200);
  const { client_secret: _secret, ...anonymous } = renewal;
  const refused = await simulator.call("POST", "/youtube/token", { form: anonymous });
  expect([refused.status, refused.body["error"]]).toEqual([401, "invalid_client"]);
  const revoke = () => simulator.call("POST", "/youtube/revoke", { form: { token: refreshToken } });
  expect((await revoke()).status).toBe(200);
  expect((await revoke()).body["error"]).toBe("invalid_token");
  expect((await get("channels?part=id&mine=true")).status).toBe(401);
  expect((await renew()).body["error"]).toBe("invalid_grant");
});

/**
 * Milliseconds until 19:00 UTC on the next day in California. That is 11:00 or 12:00 in California,
 * far from midnight, when YouTube's daily quota starts again.
 */
function msUntilTomorrow(): number {
  const [year = 0, month = 1, day = 1] = new Intl.DateTimeFormat("en-CA", {
    timeZone: "America/Los_Angeles",
  })
    .format(Date.now())
    .split("-")
    .map(Number);
  return Date.UTC(year, month - 1, day + 1, 19) - Date.now();
}

test("the simulated YouTube allows 100 uploads per project and 50 per channel on one day in Pacific time", async () => {
  const reasons: unknown[] = [];
  const fresh = async () => (await simulator.account("youtube")).credentials["accessToken"] ?? "";
  const others = [await fresh(), await fresh()];
  for (let index = 0; index < 101; index += 1) {
    token = index === 51 ? (others[0] ?? "") : token;
    reasons.push(reasonOf(await begin(VIDEO)));
  }
  const expected = Array<unknown>(101).fill(undefined);
  expect(reasons).toEqual(expected.with(50, "uploadLimitExceeded").with(100, "rateLimitExceeded"));
  await simulator.control("/clock", { advanceMs: msUntilTomorrow() });
  token = await fresh();
  expect((await begin(VIDEO)).status).toBe(200);
});

test("the simulated YouTube allows any number of uploads per day when the setting quotas is off", async () => {
  await simulator.control("/settings", { quotas: false });
  for (let index = 0; index < 101; index += 1) expect((await begin(VIDEO)).status).toBe(200);
});

test("fault rules can match separately the start of a simulated YouTube upload, its parts, its last part and a status query", async () => {
  const bytes = mp4Bytes(300 * KB);
  const total = bytes.length;
  for (const operation of ["create", "upload", "publish", "status"])
    await simulator.control("/faults", {
      platform: "youtube",
      operation,
      mode: "status",
      status: 503,
    });
  expect((await begin(VIDEO)).status).toBe(503);
  const session = await openSession();
  const first = bytes.subarray(0, 256 * KB);
  const sendFirst = () => put(session, `0-262143/${total}`, first);
  expect([(await sendFirst()).status, (await sendFirst()).status]).toEqual([503, 308]);
  expect([(await query(session)).status, (await query(session)).status]).toEqual([503, 308]);
  const sendLast = () => put(session, `262144-${total - 1}/${total}`, bytes.subarray(256 * KB));
  expect([(await sendLast()).status, (await sendLast()).status]).toEqual([503, 201]);
});

test("the request log of simulated YouTube calls contains no secret, not even the id of an upload session", async () => {
  const session = await openSession();
  await put(session, "0-999/1000", mp4Bytes(1000));
  const secrets = (await simulator.control("/secrets")) as unknown as string[];
  const id = new URL(session).searchParams.get("upload_id");
  expect(secrets).toContain(id);
  const log = JSON.stringify(await simulator.control("/requests?platform=youtube"));
  expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
  expect(JSON.parse(log)).toMatchObject([
    { operation: "create", account: channel.externalId },
    { operation: "publish", account: channel.externalId },
  ]);
});

test("a simulated YouTube upload can be continued after a restart of the simulator, and its parts are deleted when it is complete", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "simulator-"));
  const bytes = mp4Bytes(300 * KB);
  const total = bytes.length;
  await simulator[Symbol.asyncDispose]();
  simulator = await TestSimulator.start({ dataDir });
  channel = await simulator.account("youtube");
  token = channel.credentials["accessToken"] ?? "";
  const session = new URL(await openSession());
  await put(session.href, `0-262143/${total}`, bytes.subarray(0, 256 * KB));
  await simulator[Symbol.asyncDispose]();

  simulator = await TestSimulator.start({ dataDir });
  const moved = `${simulator.url}${session.pathname}${session.search}`;
  expect((await query(moved, total)).headers.get("range")).toBe("bytes=0-262143");
  const last = await put(moved, `262144-${total - 1}/${total}`, bytes.subarray(256 * KB));
  expect(last.status).toBe(201);
  expect(readdirSync(join(dataDir, "pieces"))).toEqual([]);
  const visible = itemsOf(await simulator.control("/visible?platform=youtube"));
  expect(visible[0]?.["media"]).toEqual([{ kind: "video", sha256: sha256(bytes) }]);
  rmSync(dataDir, { recursive: true });
});
