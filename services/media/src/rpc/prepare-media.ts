import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  MediaPreparation,
  PrepareMediaRequest,
  PrepareMediaResponseSchema,
  PreparedMediaSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { markPrepared } from "#src/db/media-library.ts";
import { listMediaByIds } from "#src/db/media.ts";
import {
  describePlan,
  parseRenditionPlan,
  type RenditionPlan,
  sourceKindOf,
  type StoredRendition,
  toRefusalSentence,
} from "#src/domain/rendition-plan.ts";
import type { StoredMedia } from "#src/domain/stored-media.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import type { RenditionsByPlan } from "#src/operations/renditions.ts";
import { toMedia } from "#src/rpc/to-media.ts";

const MAX_ITEMS = 500;
/** Media of which one request makes renditions at the same time. */
const MAX_AT_ONCE = 4;

type Deps = Pick<RpcDependencies, "sql" | "renditions" | "prepareMs">;
type PreparedFile = MessageInitShape<typeof PreparedMediaSchema>;

/** Without a plan it is the file that every platform receives. */
interface Item {
  readonly key: string;
  readonly workspaceId: string;
  readonly mediaId: string;
  /** Null for a live check. */
  readonly postId: string | null;
  readonly plan: RenditionPlan | undefined;
}

/**
 * Returns the files that platforms receive, making missing renditions. Media that are not ready
 * have none. Description and cover do not change any more.
 */
export async function prepareMedia(
  deps: Deps,
  { items: requested }: PrepareMediaRequest,
): Promise<MessageInitShape<typeof PrepareMediaResponseSchema>> {
  const endsAt = performance.now() + deps.prepareMs;
  if (requested.length > MAX_ITEMS) throw invalidRequest([{ code: "invalid", path: "/items" }]);
  const items = requested.map(toItem);
  const rows = await fetchPrepared(deps, items);
  const made = await makeAll(deps, { items, rows, endsAt });
  return { files: items.map((item) => toFile(item, rows.get(item.key), made.get(item.key))) };
}

function toItem(preparation: MediaPreparation, index: number): Item {
  const { workspaceId, mediaId, postId, rendition } = preparation;
  const plan = rendition && parseRenditionPlan(rendition);
  if (rendition !== undefined && plan === undefined)
    throw invalidRequest([{ code: "invalid", path: `/items/${index}/rendition` }]);
  const post = isId(postId) ? postId : null;
  return { key: `${workspaceId}/${mediaId}`, workspaceId, mediaId, postId: post, plan };
}

async function fetchPrepared(
  { sql }: Deps,
  items: readonly Item[],
): Promise<ReadonlyMap<string, StoredMedia>> {
  const rows = new Map<string, StoredMedia>();
  for (const [workspaceId, own] of Map.groupBy(items, (item) => item.workspaceId)) {
    const known = own.filter(({ mediaId }) => isId(mediaId));
    const ids = known.map(({ mediaId }) => mediaId);
    if (ids.length === 0 || !isId(workspaceId)) continue;
    await markPrepared(sql, workspaceId, known);
    for (const row of await listMediaByIds(sql, workspaceId, ids))
      if (row.status === "ready") rows.set(`${workspaceId}/${row.id}`, row);
  }
  return rows;
}

async function makeAll(
  { renditions }: Deps,
  options: {
    readonly items: readonly Item[];
    readonly rows: ReadonlyMap<string, StoredMedia>;
    readonly endsAt: number;
  },
): Promise<ReadonlyMap<string, RenditionsByPlan>> {
  const made = new Map<string, RenditionsByPlan>();
  const left = Map.groupBy(options.items, ({ key }) => key).entries();
  // All workers share the iterator, so each media item is processed once.
  const work = async () => {
    for (const [key, items] of left) {
      const media = options.rows.get(key);
      const plans = items.flatMap(({ plan }) => plan ?? []).filter((plan) => fits(plan, media));
      if (media === undefined || plans.length === 0) continue;
      made.set(key, await renditions.prepare(media, plans, options.endsAt));
    }
  };
  await Promise.all(Array.from({ length: MAX_AT_ONCE }, work));
  return made;
}

function fits(plan: RenditionPlan, media: StoredMedia | undefined): boolean {
  return media !== undefined && sourceKindOf(plan) === media.kind;
}

function toFile(
  { plan }: Item,
  media: StoredMedia | undefined,
  made: RenditionsByPlan | undefined,
): PreparedFile {
  if (media === undefined) return {};
  if (plan === undefined) return toDelivery(media);
  if (!fits(plan, media)) {
    const refusal = media.kind === "video" ? "not_an_image" : "not_a_video";
    return { media: toMedia(media), refusal: toRefusalSentence(refusal) };
  }
  const rendition = made?.get(describePlan(plan));
  // The media were deleted while the rendition was made.
  return rendition === undefined ? {} : toRendition(media, rendition);
}

function toDelivery(media: StoredMedia): PreparedFile {
  return {
    media: toMedia(media),
    renditionId: "delivery",
    contentType: media.deliveryContentType ?? "",
    bytes: BigInt(media.deliveryBytes ?? 0),
    sha256: media.deliverySha256 ?? "",
    width: media.width ?? 0,
    height: media.height ?? 0,
  };
}

function toRendition(row: StoredMedia, rendition: StoredRendition): PreparedFile {
  const media = toMedia(row);
  if (rendition.kind === "refused") return { media, refusal: toRefusalSentence(rendition.refusal) };
  const { id: renditionId, contentType, sha256, width, height } = rendition;
  const bytes = BigInt(rendition.bytes);
  return { media, renditionId, contentType, bytes, sha256, width, height };
}
