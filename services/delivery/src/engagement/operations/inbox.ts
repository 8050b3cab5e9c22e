import type { PlatformComment } from "@postrider/platforms/comments/connector";
import { ServiceError } from "@postrider/shared/errors";
import { appendEvents } from "@postrider/shared/outbox";
import type { TransactionSql } from "@postrider/shared/postgres";
import { runBeyondRequest } from "@postrider/shared/telemetry/request-context";
import { type CommentedMedia, storeInboxComments } from "#src/engagement/db/inbox-comments.ts";
import { claimInboxRead, endInboxRead, listNewestPublications } from "#src/engagement/db/inbox.ts";
import { isMediaId, toStorableComment } from "#src/engagement/domain/text.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";
import {
  getCommentedAccount,
  readCommentPage,
  withReadDeadline,
} from "#src/engagement/operations/read-platform.ts";
import { inboxChanged } from "#src/events.ts";

/** A workspace's publications are read at most once in this time, however many pages are open. */
const EVERY_MS = 60_000;
const MAX_PUBLICATIONS = 10;
const PAGE_SIZE = 50;
const READ_TIMEOUT_MS = 10_000;

type KeepSettings = Pick<EngagementDeps["settings"], "historyDays">;

export type InboxDeps = Pick<EngagementDeps, "sql" | "logger" | "accounts" | "onEvents"> & {
  readonly connectors: Pick<EngagementDeps["connectors"], "comments">;
  readonly settings: KeepSettings;
};

/** In the transaction of the caller. Own comments of the account are left out. */
export async function keepComments(
  tx: TransactionSql,
  media: CommentedMedia,
  comments: readonly PlatformComment[],
  settings: KeepSettings,
): Promise<number> {
  const others = comments.filter(({ isOwn }) => !isOwn).map(toStorableComment);
  const storable = others.filter(({ id }) => isMediaId(id));
  const once = new Map(storable.map((comment) => [comment.id, comment]));
  if (once.size === 0 || !isMediaId(media.mediaId)) return 0;
  const count = await storeInboxComments(tx, media, [...once.values()], settings);
  if (count > 0) await appendEvents(tx, [inboxChanged(media.workspaceId)]);
  return count;
}

/**
 * Stores comments that were read for another purpose. That purpose does not fail if they cannot be
 * stored: the next read brings them again.
 */
export async function tryKeepComments(
  { sql, logger, settings, onEvents }: Pick<InboxDeps, "sql" | "logger" | "settings" | "onEvents">,
  media: CommentedMedia,
  comments: readonly PlatformComment[],
): Promise<void> {
  try {
    const count = await sql.begin((tx) => keepComments(tx, media, comments, settings));
    if (count > 0) onEvents();
  } catch (error) {
    const { workspaceId, accountId } = media;
    logger.warn(
      { err: error, workspaceId, accountId },
      "comments could not be stored in the inbox; they are stored when they are read again",
    );
  }
}

/**
 * Whether this call reads the newest publications of the workspace, one after the other, while the
 * caller goes on. An account that fails is not asked again in this round.
 */
export async function refreshInbox(deps: InboxDeps, workspaceId: string): Promise<boolean> {
  if (!(await claimInboxRead(deps.sql, workspaceId, EVERY_MS))) return false;
  const reading = runBeyondRequest(() => readNewest(deps, workspaceId));
  reading.catch((error: unknown) =>
    deps.logger.warn(
      { err: error, workspaceId },
      "the newest comments of a workspace could not be read; they are read when its inbox is shown again",
    ),
  );
  return true;
}

async function readNewest(deps: InboxDeps, workspaceId: string): Promise<void> {
  const platforms = Object.keys(deps.connectors.comments);
  const limit = MAX_PUBLICATIONS;
  const found = await listNewestPublications(deps.sql, workspaceId, { platforms, limit });
  const failed = new Set<string>();
  for (const media of found)
    if (!failed.has(media.accountId) && !(await readComments(deps, media)))
      failed.add(media.accountId);
  await endInboxRead(deps.sql, workspaceId);
}

/** Whether the platform answered. */
async function readComments(deps: InboxDeps, media: CommentedMedia): Promise<boolean> {
  const { mediaId, workspaceId, accountId } = media;
  try {
    const { comments } = await withReadDeadline(READ_TIMEOUT_MS, async (signal) => {
      const commented = await getCommentedAccount(deps, { workspaceId, accountId });
      const query = { mediaId, limit: PAGE_SIZE, after: undefined };
      return await readCommentPage(deps, commented, query, signal);
    });
    await tryKeepComments(deps, media, comments);
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // A publication that was deleted on its platform says nothing about the account.
    return error.reason === "not_found";
  }
}
