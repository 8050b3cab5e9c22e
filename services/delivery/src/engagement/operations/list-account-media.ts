import type {
  OwnedMedia,
  OwnedMediaPage,
  PrivateRepliesConnector,
} from "@postrider/platforms/private-replies/connector";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import type { PlatformCalls } from "./platform-calls.ts";

/** Maximum number of media per call to a platform. */
const MEDIA_PER_CALL = 50;
/** Maximum number of calls per poll that read the numbers of comments of media which rules name. */
const NAMED_CALLS = 2;

/** The media of an account that a poll looks at, and where the next poll continues. */
export interface ListedMedia {
  readonly kind: "listed";
  readonly media: readonly OwnedMedia[];
  readonly mediaCursor: string | null;
}

/**
 * Lists the media whose numbers of comments a poll compares. If every rule names its media, these; if they are many, a part in
 * turn. Otherwise the newest media of the account and a page of the older ones in turn. That is at most two calls.
 */
export async function listAccountMedia(
  calls: PlatformCalls,
  connector: PrivateRepliesConnector,
  rules: readonly AutomationRule[],
  mediaCursor: string | null,
) {
  const named = rules.flatMap(({ mediaIds }) => mediaIds ?? []);
  if (rules.every(({ mediaIds }) => mediaIds !== null))
    return await readNamed(calls, connector, [...new Set(named)].toSorted(), mediaCursor);
  return await listInTurn(calls, connector, mediaCursor);
}

async function readNamed(
  calls: PlatformCalls,
  connector: PrivateRepliesConnector,
  ids: readonly string[],
  mediaCursor: string | null,
) {
  const from =
    mediaCursor === null
      ? 0
      : Math.max(
          0,
          ids.findIndex((id) => id > mediaCursor),
        );
  const part = ids.slice(from, from + NAMED_CALLS * MEDIA_PER_CALL);
  const media: OwnedMedia[] = [];
  for (let at = 0; at < part.length; at += MEDIA_PER_CALL) {
    const chunk = part.slice(at, at + MEDIA_PER_CALL);
    const page = await calls.make((access, signal) => connector.readMedia(access, chunk, signal));
    if (page.kind !== "media") return page;
    media.push(...page.media);
  }
  const hasMore = from + part.length < ids.length;
  return toListed(media, hasMore ? part.at(-1) : undefined);
}

async function listInTurn(
  calls: PlatformCalls,
  connector: PrivateRepliesConnector,
  mediaCursor: string | null,
) {
  const list = (after: string | undefined) =>
    calls.make<OwnedMediaPage | Awaited<ReturnType<PrivateRepliesConnector["listMedia"]>>>(
      (access, signal) => connector.listMedia(access, { limit: MEDIA_PER_CALL, after }, signal),
    );
  const newest = await list(undefined);
  if (newest.kind !== "media") return newest;
  if (newest.next === undefined) return toListed(newest.media, undefined);
  const older = await list(mediaCursor ?? newest.next);
  // A platform refuses a cursor that has become too old; then the turn begins anew.
  if (older.kind === "refused") return toListed(newest.media, undefined);
  if (older.kind !== "media") return older;
  return toListed([...newest.media, ...older.media], older.next);
}

function toListed(media: readonly OwnedMedia[], next: string | undefined): ListedMedia {
  const byId = new Map(media.map((each) => [each.id, each]));
  return { kind: "listed", media: [...byId.values()], mediaCursor: next ?? null };
}
