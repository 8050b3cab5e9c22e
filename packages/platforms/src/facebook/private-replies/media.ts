import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import { toStepFailure } from "#src/graph-api/failures.ts";
import { readGraphList } from "#src/graph-api/graph-list.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { readNodes } from "#src/graph-api/read-nodes.ts";
import { list, number, object, text } from "#src/http/platform-answer.ts";
import type { OwnedMedia, OwnedMediaPage } from "#src/private-replies/connector.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

const FIELDS = "id,created_time,comments.summary(total_count).limit(0)";

function mediaIdOf(entry: unknown): string | undefined {
  const [attachment] = list(object(entry, "attachments"), "data");
  const type = text(attachment, "type") ?? "";
  const isVideo = type.includes("video") && !type.includes("share");
  return (isVideo ? text(object(attachment, "target"), "id") : undefined) ?? text(entry, "id");
}

function toMedia(entry: unknown): OwnedMedia | undefined {
  const id = mediaIdOf(entry);
  const publishedAt = new Date(text(entry, "created_time") ?? "");
  if (id === undefined || Number.isNaN(publishedAt.getTime())) return undefined;
  const summary = object(object(entry, "comments"), "summary");
  return { id, publishedAt, commentCount: number(summary, "total_count") ?? null };
}

function toPage(entries: readonly unknown[], next: string | undefined): OwnedMediaPage {
  return { kind: "media", media: entries.flatMap((entry) => toMedia(entry) ?? []), next };
}

export async function listMedia(
  api: GraphApi,
  account: AccountAccess,
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
  signal: AbortSignal,
): Promise<OwnedMediaPage | Failure> {
  const path = `${encodeURIComponent(account.externalId)}/published_posts`;
  const query = { fields: `${FIELDS},attachments{type,target}` };
  const read = await readGraphList(api, account, { path, query, limit, after }, signal);
  return read.kind === "list" ? toPage(read.entries, read.next) : toStepFailure(read, MEANINGS);
}

/** One call each. Posts of other Pages are left out. */
export async function readMedia(
  api: GraphApi,
  account: AccountAccess,
  mediaIds: readonly string[],
  signal: AbortSignal,
): Promise<OwnedMediaPage | Failure> {
  const query = { ids: mediaIds, fields: `${FIELDS},from`, own: MEANINGS };
  const read = await readNodes(api, account, query, signal);
  if (read.kind === "no_answer") return platformUnavailable(read.message);
  if (read.kind !== "nodes") return read;
  const nodes = [...read.nodes.values()].flatMap((each) => (each.kind === "node" ? each.node : []));
  const own = nodes.filter((node) => text(object(node, "from"), "id") === account.externalId);
  return toPage(own, undefined);
}
