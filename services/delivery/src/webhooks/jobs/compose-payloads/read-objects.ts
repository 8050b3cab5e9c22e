import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { AutomationRun } from "@postrider/contracts/engagement/v1/automation_service_pb";
import type { CommentAction } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { Locale } from "@postrider/rest/locale";
import type { MediaLinks } from "@postrider/rest/media/links";
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
  readonly links: Pick<MediaLinks, "urlOf">;
  readonly locale: Locale;
}

/** The post, account or the like that an event is about, as its owner returned it. */
export type SourceObject =
  | { readonly kind: "post"; readonly value: ObjectRef & { readonly post: PostDetailJson } }
  | { readonly kind: "account"; readonly value: Account }
  | { readonly kind: "media"; readonly value: Media }
  | { readonly kind: "comment_action"; readonly value: CommentAction }
  | { readonly kind: "automation_run"; readonly value: AutomationRun }
  | { readonly kind: "webhook"; readonly value: Subscription };

/** `read` with an undefined `object` means that the object no longer exists. */
export type Reading =
  | { readonly kind: "read"; readonly object: SourceObject | undefined }
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

type Reader = (
  deps: ComposeDeps,
  refs: readonly ObjectRef[],
  timeoutMs: () => number,
) => Promise<readonly SourceObject[]>;

async function readGroup(
  { deps, read, timeoutMs }: { deps: ComposeDeps; read: Reader; timeoutMs: () => number },
  group: readonly Composition[],
  readings: Readings,
): Promise<void> {
  try {
    // Several events may be about one object, which is read once.
    const refs = new Map(group.map((each) => [keyOf(each), refOf(each)]));
    const found = await read(deps, [...refs.values()], timeoutMs);
    const objects = new Map(
      found.map((object) => [`${object.value.workspaceId}/${object.value.id}`, object]),
    );
    for (const each of group)
      readings.set(each.id, { kind: "read", object: objects.get(keyOf(each)) });
  } catch (error) {
    const reading: Reading = isUnavailable(error)
      ? { kind: "unavailable" }
      : { kind: "failed", error };
    for (const { id } of group) readings.set(id, reading);
  }
}

function isUnavailable(error: unknown): boolean {
  return isInfrastructureError(error) || isUnanswered(error);
}

function refOf({ workspaceId, source }: Composition): ObjectRef {
  return { workspaceId, id: idOf(source) };
}

function keyOf({ workspaceId, source }: Composition): string {
  return `${workspaceId}/${idOf(source)}`;
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
  return found.map(({ workspaceId, id, json }) => {
    const post = JSON.parse(json) as PostDetailJson;
    return { kind: "post", value: { workspaceId, id, post } };
  });
};

/** How each kind of object is read; undefined if the event itself contains everything. */
const READERS: Readonly<Record<EventSource["kind"], Reader | undefined>> = {
  post: readPosts,
  target: readPosts,
  account: async ({ accounts }, refs, timeoutMs) =>
    (await fetchAccounts(accounts, refs, timeoutMs)).map((value) => ({ kind: "account", value })),
  media: async ({ media }, refs, timeoutMs) =>
    (await fetchMedia(media, refs, timeoutMs)).map((value) => ({ kind: "media", value })),
  comment_action: async ({ sql, engagement }, refs) =>
    (await engagement.listCommentActions(sql, refs)).map((value) => ({
      kind: "comment_action",
      value,
    })),
  automation_run: async ({ sql, engagement }, refs) =>
    (await engagement.listAutomationRuns(sql, refs)).map((value) => ({
      kind: "automation_run",
      value,
    })),
  webhook: async ({ sql }, refs) => {
    const ids = refs.map(({ id }) => id);
    return (await listSubscriptionsByIds(sql, ids)).map((value) => ({ kind: "webhook", value }));
  },
  deleted_post: undefined,
  quota: undefined,
  test: undefined,
};
