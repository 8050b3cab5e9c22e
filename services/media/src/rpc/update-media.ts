import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateMediaRequest,
  UpdateMediaResponseSchema,
} from "@postrider/contracts/media/v1/media_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import {
  conflict,
  invalidRequest,
  notFound,
  unprocessable,
  type Violation,
} from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import {
  lockDescribable,
  updateDescription,
  type DescribableMedia,
} from "#src/db/media-library.ts";
import {
  checkCover,
  countCharacters,
  MAX_ALT_TEXT_LENGTH,
  type DescriptionChange,
} from "#src/domain/media-description.ts";
import type { RpcDependencies } from "#src/operations/dependencies.ts";
import { toMedia } from "#src/rpc/to-media.ts";

export async function updateMedia(
  { sql }: Pick<RpcDependencies, "sql">,
  request: UpdateMediaRequest,
): Promise<MessageInitShape<typeof UpdateMediaResponseSchema>> {
  const { workspaceId, id: mediaId } = request;
  assertIds(workspaceId, mediaId);
  const change = parseChange(request);
  const media = await beginInTurn(sql, workspaceId, async (tx) => {
    const locked = await lockDescribable(tx, { workspaceId, mediaId });
    throwIfNotDescribable(locked);
    const violations = checkCover(locked, change.coverMs);
    if (violations.length > 0) throw unprocessable("validation_failed", violations);
    const subject = { type: "media", id: mediaId } as const;
    await appendDeed(tx, { action: "media.update", subject, workspaceId });
    return await updateDescription(tx, { workspaceId, mediaId }, change);
  });
  return { media: toMedia(media) };
}

/**
 * A cover time of -1 removes the cover.
 *
 * @throws `invalid_request`
 */
function parseChange({ altText, coverMs }: UpdateMediaRequest): DescriptionChange {
  if (altText === undefined && coverMs === undefined) throw invalidRequest();
  return { altText: parseAltText(altText), coverMs: parseCover(coverMs) };
}

function parseAltText(text: string | undefined): DescriptionChange["altText"] {
  if (text === undefined) return undefined;
  if (countCharacters(text) > MAX_ALT_TEXT_LENGTH)
    throw invalidRequest([{ code: "invalid", path: "/altText" }]);
  return text.trim() === "" ? null : text;
}

function parseCover(coverMs: bigint | undefined): DescriptionChange["coverMs"] {
  if (coverMs === undefined) return undefined;
  if (coverMs < -1n || coverMs > BigInt(Number.MAX_SAFE_INTEGER))
    throw invalidRequest([{ code: "invalid", path: "/coverMs" }]);
  return coverMs === -1n ? null : Number(coverMs);
}

function toAlreadySent({ preparedFor: postId }: DescribableMedia): Violation {
  return { code: "already_sent", ...(postId === null ? {} : { postId }) };
}

function throwIfNotDescribable(
  media: DescribableMedia | undefined,
): asserts media is DescribableMedia {
  switch (media?.status) {
    case undefined:
    case "deleting":
      throw notFound();
    case "pending":
      throw conflict("media_not_uploaded");
    case "rejected":
      throw unprocessable("media_rejected", media.rejection === null ? [] : [media.rejection]);
    case "ready":
      if (media.isPrepared) throw conflict("media_in_use", [toAlreadySent(media)]);
  }
}
