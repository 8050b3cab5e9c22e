import { toStepFailure } from "#src/graph-api/failures.ts";
import { readGraphList } from "#src/graph-api/graph-list.ts";
import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { readNodes } from "#src/graph-api/read-nodes.ts";
import { number, text } from "#src/http/platform-answer.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import type { OwnedMedia, OwnedMediaPage } from "#src/private-replies/connector.ts";
import { type Failure, platformUnavailable } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

const FIELDS = "id,timestamp,comments_count";

function toMedia(entry: unknown): OwnedMedia | undefined {
  const id = text(entry, "id");
  const publishedAt = new Date(text(entry, "timestamp") ?? "");
  return id === undefined || Number.isNaN(publishedAt.getTime())
    ? undefined
    : { id, publishedAt, commentCount: number(entry, "comments_count") ?? null };
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
  const path = `${encodeURIComponent(account.externalId)}/media`;
  const call = { path, query: { fields: FIELDS }, limit, after };
  const read = await readGraphList(api, account, call, signal);
  return read.kind === "list" ? toPage(read.entries, read.next) : toStepFailure(read, MEANINGS);
}

export async function readMedia(
  api: GraphApi,
  account: AccountAccess,
  mediaIds: readonly string[],
  signal: AbortSignal,
): Promise<OwnedMediaPage | Failure> {
  const query = { ids: mediaIds, fields: FIELDS, own: MEANINGS };
  const read = await readNodes(api, account, query, signal);
  if (read.kind === "no_answer") return platformUnavailable(read.message);
  if (read.kind !== "nodes") return read;
  const nodes = [...read.nodes.values()].flatMap((each) => (each.kind === "node" ? each.node : []));
  return toPage(nodes, undefined);
}
