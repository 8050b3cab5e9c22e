import { setImmediate } from "node:timers/promises";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { AutomationRun } from "@postrider/contracts/engagement/v1/automation_service_pb";
import type { CommentAction } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { Locale } from "@postrider/rest/locale";
import type { PostDetailJson } from "@postrider/rest/posts/schemas";
import { isUnanswered } from "@postrider/shared/errors";
import { isInfrastructureError, type Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import {
  type AccountsClient,
  type EngagementReader,
  fetchAccounts,
  fetchMedia,
  fetchPosts,
  type MediaClient,
  type MediaWithUrl,
  type ObjectRef,
  type PostsClient,
} from "#src/webhooks/clients/objects.ts";
import type { Composition } from "#src/webhooks/db/compositions.ts";
import { listSubscriptionsByIds } from "#src/webhooks/db/subscriptions.ts";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";
import type { EventSource } from "#src/webhooks/domain/webhook-event.ts";
import type { Backlogs } from "#src/webhooks/operations/backlogs.ts";

export interface ComposeDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly backlogs: Backlogs;
  readonly posts: PostsClient;
  readonly accounts: AccountsClient;
  readonly media: MediaClient;
  readonly engagement: EngagementReader;
  readonly locale: Locale;
}

/** The post, account or the like that an event is about, as its owner returned it. */
export type SourceObject =
  | { readonly kind: "post"; readonly value: ObjectRef & { readonly post: PostDetailJson } }
  | { readonly kind: "account"; readonly value: Account }
  | { readonly kind: "media"; readonly value: MediaWithUrl }
  | { readonly kind: "comment_action"; readonly value: CommentAction }
  | { readonly kind: "automation_run"; readonly value: AutomationRun }
  | { readonly kind: "webhook"; readonly value: Subscription };

/** `read` with an undefined `object` means that the object no longer exists. */
export type Reading =
  | { readonly kind: "read"; readonly object: SourceObject | undefined }
  /** Others come first; it is read with a later page. */
  | { readonly kind: "left" }
  | { readonly kind: "unavailable" }
  | { readonly kind: "failed"; readonly error: unknown };

const CALL_TIMEOUT_MS = 5_000;
/** Deadline of all calls to one owner, shorter than the lease of the page. */
const PAGE_TIMEOUT_MS = 10_000;

type Readings = Map<string, Reading>;

/**
 * Reads the objects of events from all owners at the same time. An event whose read has failed
 * before is read alone, so that it does not make the reads of the others fail again.
 */
export async function readObjects(
  deps: ComposeDeps,
  compositions: readonly Composition[],
): Promise<Readings> {
  const readings: Readings = new Map(
    compositions.map(({ id }) => [id, { kind: "read", object: undefined }]),
  );
  const deadline = performance.now() + PAGE_TIMEOUT_MS;
  const timeoutMs = (): number =>
    Math.max(1, Math.min(CALL_TIMEOUT_MS, Math.ceil(deadline - performance.now())));
  const byReader = Map.groupBy(compositions, ({ source }) => READERS[source.kind]);
  await Promise.all(
    [...byReader].map(async ([read, wanted]) => {
      if (read === undefined) return;
      const first = wanted.filter(({ tries }) => tries === 0);
      const groups = [first, ...wanted.filter(({ tries }) => tries > 0).map((one) => [one])];
      for (const group of groups)
        if (group.length > 0) await readGroup({ deps, read, timeoutMs }, group, readings);
    }),
  );
  return readings;
}

interface Found {
  readonly objects: readonly SourceObject[];
  readonly left?: readonly ObjectRef[];
}

type Reader = (
  deps: ComposeDeps,
  refs: readonly ObjectRef[],
  timeoutMs: () => number,
) => Promise<Found>;

async function readGroup(
  { deps, read, timeoutMs }: { deps: ComposeDeps; read: Reader; timeoutMs: () => number },
  group: readonly Composition[],
  readings: Readings,
): Promise<void> {
  try {
    // Several events may be about one object, which is read once.
    const refs = new Map(inTurns(group).map((each) => [keyOf(each), refOf(each)]));
    const found = await read(deps, [...refs.values()], timeoutMs);
    const objects = new Map(found.objects.map((object) => [nameOf(object.value), object]));
    const left = new Set(found.left?.map(nameOf));
    for (const each of group) {
      const key = keyOf(each);
      readings.set(
        each.id,
        left.has(key) ? { kind: "left" } : { kind: "read", object: objects.get(key) },
      );
    }
  } catch (error) {
    const reading: Reading = isUnavailable(error)
      ? { kind: "unavailable" }
      : { kind: "failed", error };
    for (const { id } of group) readings.set(id, reading);
  }
}

/** The first event of each workspace, then the second ones. */
function inTurns(group: readonly Composition[]): readonly Composition[] {
  const turns = new Map<string, number>();
  const placed = group.map((each) => {
    const turn = turns.get(each.workspaceId) ?? 0;
    turns.set(each.workspaceId, turn + 1);
    return { each, turn };
  });
  return placed.toSorted((a, b) => a.turn - b.turn).map(({ each }) => each);
}

function isUnavailable(error: unknown): boolean {
  return isInfrastructureError(error) || isUnanswered(error);
}

function refOf({ workspaceId, source }: Composition): ObjectRef {
  return { workspaceId, id: idOf(source) };
}

function keyOf(composition: Composition): string {
  return nameOf(refOf(composition));
}

function nameOf({ workspaceId, id }: ObjectRef): string {
  return `${workspaceId}/${id}`;
}

function idOf(source: EventSource): string {
  if ("postId" in source) return source.postId;
  if ("webhookId" in source) return source.webhookId;
  switch (source.kind) {
    case "account":
      return source.accountId;
    case "media":
      return source.mediaId;
    case "comment_action":
      return source.actionId;
    case "automation_run":
      return source.runId;
    case "quota":
      return "";
  }
}

const readPosts: Reader = async ({ posts, locale }, refs, timeoutMs) => {
  const found = await fetchPosts(posts, { refs, locale }, timeoutMs);
  const objects: SourceObject[] = [];
  for (const { workspaceId, id, json } of found.posts) {
    const post = JSON.parse(json) as PostDetailJson;
    objects.push({ kind: "post", value: { workspaceId, id, post } });
    // Other work runs between large posts.
    await setImmediate();
  }
  return { objects, left: found.left };
};

type ValueOf<K extends SourceObject["kind"]> = Extract<SourceObject, { kind: K }>["value"];

function readAll<K extends SourceObject["kind"]>(
  kind: K,
  read: (
    deps: ComposeDeps,
    refs: readonly ObjectRef[],
    timeoutMs: () => number,
  ) => Promise<readonly ValueOf<K>[]>,
): Reader {
  return async (...args) => {
    const values = await read(...args);
    return { objects: values.map((value) => ({ kind, value }) as SourceObject) };
  };
}

/** How each kind of object is read; undefined if the event itself contains everything. */
const READERS: Readonly<Record<EventSource["kind"], Reader | undefined>> = {
  post: readPosts,
  target: readPosts,
  account: readAll("account", ({ accounts }, refs, timeoutMs) =>
    fetchAccounts(accounts, refs, timeoutMs),
  ),
  media: readAll("media", ({ media }, refs, timeoutMs) => fetchMedia(media, refs, timeoutMs)),
  comment_action: readAll("comment_action", ({ sql, engagement }, refs) =>
    engagement.listCommentActions(sql, refs),
  ),
  automation_run: readAll("automation_run", ({ sql, engagement }, refs) =>
    engagement.listAutomationRuns(sql, refs),
  ),
  webhook: readAll("webhook", ({ sql }, refs) =>
    listSubscriptionsByIds(
      sql,
      refs.map(({ id }) => id),
    ),
  ),
  deleted_post: undefined,
  quota: undefined,
  test: undefined,
};
