import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@postrider/shared/testing/poll";
import { create, whenPost } from "../requests/posts.ts";
import { openSession, type Session } from "../requests/session.ts";
import type { Tenant } from "../requests/tenant.ts";
import type { System } from "../system/system.ts";
import type { Belongings } from "./fixtures.ts";
import type { Fixtures } from "./matrix.ts";
import { listOperations, type Description, type Operation } from "./places.ts";

const FILE = join(import.meta.dirname, "../../../services/gateway/dashboard-routes.json");
const NOT_FOUND = "404 not_found";
const INVALID_CURSOR = "400 invalid_cursor";
/**
 * For filters and for positions in a list: an id of another workspace is refused there as little as
 * an invented one, because nothing of the caller's own has it.
 */
const FINDS_NOTHING = "200";
/** A machine with other work publishes slowly. */
const SLOW_MS = 60_000;

/** The route takes no session, but what opens one; a test of its own sends it a foreign id. */
const LOGIN = "POST /session";
/** It ends the session of the tests. */
const LOGOUT = "DELETE /session";
const RESOLVE = "POST /posts/{id}/targets/{accountId}/resolve";

/** Every route of the dashboard that takes a session. The one that ends it is last. */
export function listDashboardOperations(): readonly Operation[] {
  const description = JSON.parse(readFileSync(FILE, "utf8")) as Description;
  const operations = listOperations(description, "/app/api");
  const others = operations.filter(({ operationId }) => ![LOGIN, LOGOUT].includes(operationId));
  return [...others, ...operations.filter(({ operationId }) => operationId === LOGOUT)];
}

/** What a workspace has in its dashboard alone. */
export interface DashboardBelongings {
  readonly session: Session;
  readonly sessionId: string;
  /** A further session. */
  readonly otherId: string;
  readonly keyId: string;
  readonly linkId: string;
  readonly commentId: string;
  readonly inboxCursor: string;
  readonly mediaCursor: string;
}

async function idOfSession(session: Session): Promise<string> {
  return ((await session.call("GET", "/session")).body as { id: string }).id;
}

const there = { published: true, url: "https://t.me/c/1/2" };

/**
 * Returns a request that resolves a new unknown outcome. Postrider goes on looking for such a post,
 * which changes the database, so none exists before a comparison of the database.
 */
export async function resolvesUnknown(tenant: Tenant): Promise<Fixtures> {
  const accountId = await tenant.connect("telegram");
  await tenant.addFault(accountId, { operation: "publish", mode: "drop_after_commit" });
  const { id } = await create(tenant.api, { content: "unknown", accountIds: [accountId] });
  await whenPost(tenant.api, id, "failed", SLOW_MS);
  return { [RESOLVE]: { requests: [{ path: { id, accountId }, body: there }], foreign: {} } };
}

export async function makeDashboard(
  system: System,
  tenant: Tenant,
  mark: string,
): Promise<DashboardBelongings> {
  const [session, other] = [
    await openSession(system, tenant.id),
    await openSession(system, tenant.id),
  ];
  const ask = async <T>(method: string, path: string, body?: object) =>
    (await session.call(method, path, body && { body })).body as T;
  type Page = { readonly comments: readonly { readonly id: string }[]; nextCursor: string };
  // The first question makes Postrider read comments.
  const inbox = await eventually(async () => {
    const page = await ask<Page>("GET", "/inbox?limit=1");
    if (page.nextCursor === null) throw new Error("the inbox has one page");
    return page;
  });
  const key = { name: `key ${mark}`, scopes: ["posts:read"] };
  const link = await ask<{ id: string }>("POST", "/connect-links", { platform: "x" });
  const media = await ask<{ nextCursor: string }>("GET", "/media?limit=1");
  return {
    session,
    sessionId: await idOfSession(session),
    otherId: await idOfSession(other),
    keyId: (await ask<{ key: { id: string } }>("POST", "/keys", key)).key.id,
    linkId: link.id,
    commentId: inbox.comments[0]?.id ?? "",
    inboxCursor: inbox.nextCursor,
    mediaCursor: media.nextCursor,
  };
}

/** Returns the ids of all that `makeDashboard` created. */
export function dashboardHandlesOf(belongings: DashboardBelongings): readonly string[] {
  const { session: _, ...ids } = belongings;
  return Object.values(ids);
}

interface Side {
  readonly all: Belongings;
  readonly dashboard: DashboardBelongings;
}

/**
 * Returns test requests for every route of the dashboard: valid requests with ids of the workspace
 * `ours`, and ids of the workspace `theirs` for each place of a request that takes one.
 */
export async function makeDashboardFixtures(
  { simulator }: Pick<System, "simulator">,
  { all: ours, dashboard: our }: Side,
  { all: theirs, dashboard: their }: Side,
): Promise<Fixtures> {
  const plain = { requests: [{}], foreign: {} };
  const refuse = (place: string, ids: readonly string[], refusal = NOT_FOUND) => ({
    [place]: { ids, refusal },
  });
  const one = (id: string, more: object = {}) => ({ path: { id }, ...more });
  const [account = "", spare = ""] = ours.accounts;
  const [theirAccount = ""] = theirs.accounts;
  const posts = refuse("path:id", Object.values(theirs.posts));
  const cursorIn = (...ids: readonly string[]) => refuse("query:cursor", ids, INVALID_CURSOR);
  const automations = theirs.engagement;
  const range = { from: "2026-11-01", to: "2026-11-30" };
  const { credentials } = await simulator.issueAccount("bluesky");
  const { identifier = "", appPassword = "" } = credentials;
  const rule = { keywords: ["price"], message: "Our prices" };
  return {
    "GET /events": plain,
    "GET /overview": plain,
    "GET /cures": plain,
    "GET /status": plain,
    "GET /posts": { requests: [{ query: range }], foreign: cursorIn(theirs.cursor) },
    "GET /posts/words": {
      requests: [{ query: { ids: ours.posts.failed } }],
      foreign: refuse("query:ids", Object.values(theirs.posts), FINDS_NOTHING),
    },
    "GET /posts/{id}/targets": { requests: [one(ours.posts.failed)], foreign: posts },
    [RESOLVE]: {
      requests: [{ path: { id: ours.posts.failed, accountId: account }, body: there }],
      foreign: { ...posts, ...refuse("path:accountId", [theirAccount]) },
    },
    "POST /connect-links": {
      requests: [{ body: { accountId: account } }],
      foreign: refuse("body:/accountId", [theirAccount]),
    },
    "GET /connect-links/{id}": {
      requests: [one(our.linkId)],
      foreign: refuse("path:id", [their.linkId]),
    },
    "POST /accounts": {
      requests: [{ body: { platform: "bluesky", login: { identifier, appPassword } } }],
      // The names of what a person enters, none of which is an id.
      foreign: refuse("body:/login/*", []),
    },
    "POST /accounts/{id}/retry": {
      requests: [one(spare, { body: {} })],
      foreign: {
        ...refuse("path:id", theirs.accounts),
        ...refuse("body:/after", [theirs.posts.failed], FINDS_NOTHING),
        ...refuse("body:/postId", [theirs.posts.failed]),
      },
    },
    "GET /posts/{id}/metrics/history": { requests: [one(ours.posts.published)], foreign: posts },
    "GET /metrics": {
      requests: [{ query: range }],
      foreign: refuse("query:accountId", [theirAccount], FINDS_NOTHING),
    },
    "GET /media": {
      requests: [{}],
      foreign: cursorIn(their.mediaCursor, ...Object.values(theirs.media)),
    },
    "GET /media/{id}/preview": {
      requests: [one(ours.media.ready)],
      foreign: refuse("path:id", Object.values(theirs.media)),
    },
    "GET /automations/rules": { requests: [{}], foreign: cursorIn(automations.cursors.rules) },
    "GET /automations/runs": {
      requests: [{}],
      foreign: {
        ...refuse("query:ruleId", Object.values(automations.rules)),
        ...cursorIn(automations.cursors.runs),
      },
    },
    "POST /automations/try": { requests: [{ body: { rule, text: "price" } }], foreign: {} },
    "GET /inbox": {
      requests: [{}],
      foreign: {
        ...refuse("query:accountId", [theirs.engagement.media.accountId], FINDS_NOTHING),
        ...cursorIn(their.inboxCursor),
      },
    },
    "PUT /inbox/{id}": {
      requests: [one(our.commentId, { body: { state: "done" } })],
      foreign: refuse("path:id", [their.commentId]),
    },
    "GET /session": plain,
    "GET /sessions": plain,
    "DELETE /sessions/{id}": {
      requests: [one(our.otherId)],
      foreign: refuse("path:id", [their.sessionId, their.otherId]),
    },
    "GET /keys": plain,
    "POST /keys": { requests: [{ body: { name: "Ours", scopes: ["posts:read"] } }], foreign: {} },
    "DELETE /keys/{id}": {
      requests: [one(our.keyId)],
      foreign: refuse("path:id", [their.keyId]),
    },
    "DELETE /session": plain,
  };
}
