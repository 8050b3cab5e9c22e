import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { PostVersion } from "../../posts/posts-api.ts";
import { loadTemporal } from "../../time/load-temporal.ts";
import { type Draft, emptyDraft, partsOf, withAttempts } from "./draft.ts";
import type { runSend as RunSend, SendDeps } from "./run-send.ts";
import { whenAt } from "./when.ts";

const HOUR_MS = 3_600_000;
const AT = "2026-12-04T09:00:30.500Z";

let runSend: typeof RunSend;

beforeAll(async () => {
  await loadTemporal();
  vi.stubGlobal("location", { origin: "http://localhost" });
  ({ runSend } = await import("./run-send.ts"));
  vi.unstubAllGlobals();
});

interface Answer {
  readonly status?: number;
  readonly body: unknown;
  readonly tag?: string;
}

/** In the order in which the requests are expected. */
let answers: Answer[] = [];
let requests: string[] = [];

beforeEach(() => {
  requests = [];
  vi.stubGlobal("fetch", (url: URL, init: RequestInit) => {
    const headers = new Headers(init.headers);
    const name = `${init.method} ${url.pathname.replace("/api/v1", "")}`;
    const parts = [name, headers.get("if-match"), init.body as string | undefined];
    requests.push(parts.filter((part) => typeof part === "string").join(" "));
    const answer = answers.shift();
    if (answer === undefined) throw new Error("unexpected request");
    const { status = 200, body, tag = '"0"' } = answer;
    return Promise.resolve(
      new Response(JSON.stringify(body), { status, headers: { etag: tag, "retry-after": "61" } }),
    );
  });
});
afterEach(() => vi.unstubAllGlobals());

const post = {
  id: "p",
  status: "scheduled",
  content: "Hello",
  scheduledAt: AT,
  media: [],
  options: {},
  targets: [{ accountId: "a", platform: "x" }],
} as unknown as PostVersion["post"];
const base: PostVersion = { post, etag: '"1"' };
const draftOf = (kind: Draft["when"]["kind"], changes: Partial<Draft> = {}): Draft => ({
  ...emptyDraft({ ...whenAt(post.scheduledAt ?? "", "Asia/Seoul"), kind }),
  ...partsOf(post),
  etag: '"1"',
  ...changes,
});
const failed = (status: number, code: string): Answer => ({ status, body: { error: { code } } });

const versions: (string | undefined)[] = [];
const deps = (changes: Partial<SendDeps> = {}): SendDeps => ({
  base,
  slot: undefined,
  keepAttempts: () => undefined,
  onVersion: ({ etag }) => versions.push(etag),
  ...changes,
});

test("the text of a post is changed without its time, of which the composer shows no seconds", async () => {
  answers = [{ body: { ...post, content: "Hi" }, tag: '"2"' }];
  const outcome = await runSend(draftOf("at", { text: "Hi" }), { as: "send" }, deps());
  expect(outcome.kind).toBe("done");
  expect(requests).toEqual(['PATCH /posts/p "1" {"content":"Hi"}']);
});

test("a draft that was saved with a time is scheduled for exactly that time", async () => {
  answers = [{ body: post, tag: '"2"' }];
  const draft = { ...post, status: "draft" } as const;
  await runSend(draftOf("at"), { as: "send" }, deps({ base: { post: draft, etag: '"1"' } }));
  expect(requests).toEqual([`PATCH /posts/p "1" {"scheduledAt":"${AT}"}`]);
});

test("only the version that was read is published, or the one that this composer has made", async () => {
  answers = [{ body: { ...post, status: "publishing" } }];
  await runSend(draftOf("now"), { as: "send" }, deps());
  answers = [{ body: { ...post, content: "Hi" }, tag: '"2"' }, { body: post }];
  await runSend(draftOf("now", { text: "Hi" }), { as: "send" }, deps());
  expect(requests).toEqual([
    'POST /posts/p/publish "1"',
    'PATCH /posts/p "1" {"content":"Hi"}',
    'POST /posts/p/publish "2"',
  ]);
});

test("a post that someone else changed before it was published is shown, not published", async () => {
  const theirs = { ...post, content: "Theirs" };
  answers = [failed(412, "precondition_failed"), { body: theirs, tag: '"2"' }];
  const outcome = await runSend(draftOf("now"), { as: "send" }, deps());
  expect(outcome).toEqual({ kind: "changed", theirs: { post: theirs, etag: '"2"' } });
});

test.each([
  ["precondition_failed", 412],
  ["invalid_transition", 409],
])(
  "a post that is on its way after the answer of `publish` was lost is done, not refused with %s",
  async (code, status) => {
    const sent = { ...post, status: "publishing" } as const;
    answers = [failed(status, code), { body: sent }];
    expect(await runSend(draftOf("now"), { as: "send" }, deps())).toEqual({
      kind: "done",
      post: sent,
    });
  },
);

test("a transition that is refused for another version of the post stays refused", async () => {
  const theirs = { ...post, content: "Theirs", status: "published" } as const;
  answers = [failed(409, "invalid_transition"), { body: theirs }];
  const outcome = await runSend(draftOf("now"), { as: "send" }, deps());
  expect(outcome).toMatchObject({ kind: "refused", error: { code: "invalid_transition" } });
});

test("a post whose own change was accepted without an answer is published all the same", async () => {
  const mine = { ...post, content: "Hi" };
  const sent = { ...mine, status: "publishing" } as const;
  answers = [failed(412, "precondition_failed"), { body: mine, tag: '"2"' }, { body: sent }];
  versions.length = 0;
  const outcome = await runSend(draftOf("now", { text: "Hi" }), { as: "send" }, deps());
  expect(outcome).toEqual({ kind: "done", post: sent });
  expect(requests.at(-1)).toBe('POST /posts/p/publish "2"');
  expect(versions).toEqual(['"2"']);
});

test("a request without an answer is sent again for 23 h, and later only as another post", async () => {
  let draft = draftOf("now");
  const keepAttempts = (attempts: readonly string[]) => {
    draft = withAttempts(draft, attempts, draft.sentAt ?? Date.now() - 22 * HOUR_MS);
  };
  const send = async () =>
    await runSend(draft, { as: "send" }, deps({ base: undefined, keepAttempts }));
  answers = [failed(503, "unavailable"), { body: post }];
  expect((await send()).kind).toBe("lost");
  expect((await send()).kind).toBe("done");
  draft = { ...draft, sentAt: Date.now() - 24 * HOUR_MS };
  expect(await send()).toEqual({ kind: "outdated" });
  // What another version of the page kept does not say when it was sent.
  draft = { ...draft, sentAt: undefined };
  expect(await send()).toEqual({ kind: "outdated" });
});

test("a repetition that is refused before its key is looked at leaves the request without an answer", async () => {
  let draft = draftOf("now");
  const keepAttempts = (attempts: readonly string[]) => (draft = withAttempts(draft, attempts));
  const send = async () =>
    await runSend(draft, { as: "send" }, deps({ base: undefined, keepAttempts }));
  answers = [failed(503, "unavailable"), failed(403, "workspace_forbidden")];
  await send();
  const { sentAt } = draft;
  // Not sent again by itself, and told with the words of the refusal.
  expect(await send()).toMatchObject({ kind: "blocked", error: { code: "workspace_forbidden" } });
  expect(draft).toMatchObject({ sentAt, attempts: [expect.any(String)] });
  answers = [failed(422, "validation_failed")];
  expect((await send()).kind).toBe("refused");
  expect(draft.attempts).toEqual([]);
});

test("a post at a time that is not complete is not sent, as it would be published at once", async () => {
  const when = { ...whenAt(AT, "UTC"), date: "" };
  const draft = { ...emptyDraft(when), text: "Later", accountIds: ["a"] };
  const deps = { base: undefined, slot: undefined, keepAttempts: () => {}, onVersion: () => {} };
  expect(await runSend(draft, { as: "send" }, deps)).toMatchObject({ kind: "refused" });
  expect(requests).toEqual([]);
});
