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
  | { readonly kind: "post"; readonly post: PostDetailJson }
  | { readonly kind: "account"; readonly account: Account }
  | { readonly kind: "media"; readonly media: Media }
  | { readonly kind: "comment_action"; readonly action: CommentAction }
  | { readonly kind: "automation_run"; readonly run: AutomationRun }
  | { readonly kind: "webhook"; readonly webhook: Subscription };

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
  wanted: readonly Composition[],
  timeoutMs: () => number,
) => Promise<ReadonlyMap<string, SourceObject>>;

async function readGroup(
  { deps, read, timeoutMs }: { deps: ComposeDeps; read: Reader; timeoutMs: () => number },
  group: readonly Composition[],
  readings: Readings,
): Promise<void> {
  try {
    const objects = await read(deps, group, timeoutMs);
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

/** Returns each object once, although several events may be about it. */
function toRefs(wanted: readonly Composition[]) {
  const refs = wanted.map(
    (each) => [keyOf(each), { workspaceId: each.workspaceId, id: idOf(each.source) }] as const,
  );
  return [...new Map(refs).values()];
}

const readPosts: Reader = async ({ posts, locale }, wanted, timeoutMs) => {
  const found = await fetchPosts(posts, { refs: toRefs(wanted), locale }, timeoutMs);
  return new Map(
    found.map(({ workspaceId, id, json }) => {
      const post = JSON.parse(json) as PostDetailJson;
      return [`${workspaceId}/${id}`, { kind: "post", post }];
    }),
  );
};

const readAccounts: Reader = async ({ accounts }, wanted, timeoutMs) => {
  const refs = toRefs(wanted).map(({ workspaceId, id: accountId }) => ({ workspaceId, accountId }));
  const found = await fetchAccounts(accounts, refs, timeoutMs);
  return new Map(
    found.map((account) => [`${account.workspaceId}/${account.id}`, { kind: "account", account }]),
  );
};

const readMedia: Reader = async ({ media }, wanted, timeoutMs) => {
  const found = await fetchMedia(media, toRefs(wanted), timeoutMs);
  return new Map(
    found.map((each) => [`${each.workspaceId}/${each.id}`, { kind: "media", media: each }]),
  );
};

const readCommentActions: Reader = async ({ sql, engagement }, wanted) => {
  const found = await engagement.listCommentActions(sql, toRefs(wanted));
  return new Map(
    found.map((action) => [
      `${action.workspaceId}/${action.id}`,
      { kind: "comment_action", action },
    ]),
  );
};

const readAutomationRuns: Reader = async ({ sql, engagement }, wanted) => {
  const found = await engagement.listAutomationRuns(sql, toRefs(wanted));
  return new Map(
    found.map((run) => [`${run.workspaceId}/${run.id}`, { kind: "automation_run", run }]),
  );
};

const readWebhooks: Reader = async ({ sql }, wanted) => {
  const ids = toRefs(wanted).map(({ id }) => id);
  const found = await listSubscriptionsByIds(sql, ids);
  return new Map(
    found.map((webhook) => [`${webhook.workspaceId}/${webhook.id}`, { kind: "webhook", webhook }]),
  );
};

/** How each kind of object is read; undefined if the event itself contains everything. */
const READERS: Readonly<Record<EventSource["kind"], Reader | undefined>> = {
  post: readPosts,
  target: readPosts,
  account: readAccounts,
  media: readMedia,
  comment_action: readCommentActions,
  automation_run: readAutomationRuns,
  webhook: readWebhooks,
  deleted_post: undefined,
  quota: undefined,
  test: undefined,
};
