import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import type {
  BatchGetTargetContentsRequest,
  BatchGetTargetContentsResponseSchema,
  TargetContentSchema,
  TargetRef,
} from "@postrider/contracts/posts/v1/target_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { TargetKey } from "#src/db/targets.ts";
import { listWantedTargets, type WantedTarget } from "#src/db/wanted-targets.ts";
import { effectiveContent } from "#src/domain/effective-content.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

const MAX_REFS_PER_CALL = 500;

type Content = MessageInitShape<typeof TargetContentSchema>;

/** A target that has a newer generation (publish request) is left out. */
export async function batchGetTargetContents(
  { sql }: Pick<PostsDeps, "sql">,
  { refs }: BatchGetTargetContentsRequest,
): Promise<MessageInitShape<typeof BatchGetTargetContentsResponseSchema>> {
  if (refs.length > MAX_REFS_PER_CALL) throw invalidRequest([{ code: "invalid", path: "/refs" }]);
  const keys = refs.filter((ref) => isId(ref.workspaceId) && isId(ref.targetId));
  const wanted = keys.length === 0 ? [] : await listWantedTargets(sql, keys);
  const found = new Map(wanted.map((target) => [keyOf(target), target]));
  return { contents: refs.map((ref) => toContent(ref, found.get(keyOf(ref)))) };
}

function keyOf({ workspaceId, targetId, generation }: TargetKey): string {
  return `${workspaceId} ${targetId} ${generation}`;
}

function toContent(ref: TargetRef, target: WantedTarget | undefined): Content {
  if (target === undefined) return { ref, wanted: false };
  const { tags, ...content } = effectiveContent(target.content, target.options, target);
  return {
    ref,
    wanted: true,
    ...content,
    tags: [...(tags ?? [])],
    settings: target.settings === null ? "" : JSON.stringify(target.settings),
    media: target.media.map((json) => fromJson(MediaSchema, json, { ignoreUnknownFields: true })),
  };
}
