import type { Media } from "@postrider/contracts/media/v1/media_pb";
import type { TargetContent } from "@postrider/contracts/posts/v1/target_service_pb";
import { isPlatformId, type PlatformId } from "@postrider/platforms/platform-id";
import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import type { Rendition } from "@postrider/platforms/renditions/image-plan";
import { planImage, readImageFit } from "@postrider/platforms/renditions/plan-image";
import { planVideo, remuxRendition } from "@postrider/platforms/renditions/plan-video";
import { parseSettings } from "@postrider/platforms/settings/read-settings";
import { ServiceError } from "@postrider/shared/errors";
import type { StepFailure } from "#src/calls/call-event.ts";
import type { PreparedFile } from "#src/publishing/clients/media.ts";
import type { MediaPreparation } from "#src/publishing/clients/prepare-media.ts";
import { isLiveCheck } from "#src/publishing/domain/live-check.ts";
import type { ClaimedTask } from "#src/publishing/domain/task.ts";
import { mediaBackOffMs, type PublishContext } from "./publish-context.ts";

export type TaskFiles =
  | { readonly kind: "ready"; readonly media: readonly PublicationMedia[] }
  | { readonly kind: "failed"; readonly failure: StepFailure }
  /** The media service does not answer, which counts as no attempt. */
  | { readonly kind: "release"; readonly delayMs: number };

interface TaskContent {
  readonly task: ClaimedTask;
  readonly content: TargetContent;
}

interface PlannedTask extends TaskContent {
  readonly items: readonly MediaPreparation[];
}

const NOT_PLANNED: TaskFiles = {
  kind: "failed",
  failure: {
    kind: "retryable",
    code: "internal_error",
    message: "the files that the platform receives could not be determined",
  },
};
export const NO_FILES: TaskFiles = { kind: "ready", media: [] };

/**
 * Tasks with unchanged media share one request. Tasks with renditions share one per post, which
 * decodes an image once for all platforms; its duration and its failure concern no other post.
 */
export function prepareFiles(
  context: PublishContext,
  contents: readonly TaskContent[],
): ReadonlyMap<ClaimedTask, Promise<TaskFiles>> {
  const files = new Map<ClaimedTask, Promise<TaskFiles>>();
  const planned = contents.flatMap((one) => {
    const items = tryToPlan(context, one);
    if (items === undefined) files.set(one.task, Promise.resolve(NOT_PLANNED));
    return items === undefined ? [] : [{ ...one, items }];
  });
  const groups = Map.groupBy(planned, ({ task, items }) =>
    items.some(({ rendition }) => rendition !== undefined) ? task.postId : "",
  );
  for (const group of groups.values()) {
    const asked = prepareGroup(context, group);
    group.forEach(({ task }, index) =>
      files.set(
        task,
        asked.then((all) => all[index] ?? NO_FILES),
      ),
    );
  }
  return files;
}

async function prepareGroup(
  { deps }: PublishContext,
  group: readonly PlannedTask[],
): Promise<readonly TaskFiles[]> {
  try {
    const files = await deps.media.prepare(group.flatMap(({ items }) => items));
    let from = 0;
    return group.map(({ items }) => toTaskFiles(files.slice(from, (from += items.length))));
  } catch (error) {
    deps.logger.warn(
      { err: error, count: group.length },
      "the media service did not return the files of targets; the targets are tried again later",
    );
    return group.map(() => onFailure(deps, error));
  }
}

function onFailure(deps: PublishContext["deps"], error: unknown): TaskFiles {
  if (error instanceof ServiceError && error.kind === "unavailable")
    return { kind: "release", delayMs: mediaBackOffMs(deps) };
  const message = "the files could not be prepared";
  return { kind: "failed", failure: { kind: "retryable", code: "media_fetch_failed", message } };
}

function toTaskFiles(files: readonly PreparedFile[]): TaskFiles {
  const media: PublicationMedia[] = [];
  for (const file of files)
    if (file.kind === "file") media.push(file.media);
    else return { kind: "failed", failure: toFailure(file) };

  return { kind: "ready", media };
}

function toFailure(file: Exclude<PreparedFile, { kind: "file" }>): StepFailure {
  return file.kind === "refused"
    ? { kind: "refused", code: "media_rejected", message: file.message }
    : { kind: "refused", code: "media_fetch_failed", message: "the media no longer exist" };
}

/** Undefined after an error, which concerns this task alone. */
function tryToPlan(
  { deps }: PublishContext,
  one: TaskContent,
): readonly MediaPreparation[] | undefined {
  try {
    return planItems(one);
  } catch (error) {
    deps.logger.error(
      { err: error, targetId: one.task.targetId },
      "it could not be determined which files the platform receives for a target; the target is tried again later",
    );
    return undefined;
  }
}

function planItems({ task, content }: TaskContent): readonly MediaPreparation[] {
  const { platform, postId } = task;
  const settings = parseSettings(content.settings);
  return content.media.map((media) => ({
    media,
    ...(isLiveCheck(task) ? {} : { postId }),
    rendition: isPlatformId(platform) ? planRendition(media, platform, settings) : undefined,
  }));
}

/**
 * Returns the rendition that a platform receives for media; undefined if it receives the media
 * unchanged. A file that only the current rules refuse was accepted under earlier rules, so it is
 * sent, and the platform decides.
 */
function planRendition(
  media: Media,
  platform: PlatformId,
  settings: Readonly<Record<string, unknown>>,
): Rendition | undefined {
  const rules = PLATFORM_FACTS[platform].rules;
  if (media.kind === "video") {
    const { deliveryContentType: contentType, video, width, height } = media;
    const { kind } = planVideo({ contentType, video }, rules.video);
    return kind === "remux" ? remuxRendition({ width, height }) : undefined;
  }
  const image = {
    contentType: media.deliveryContentType,
    bytes: Number(media.deliveryBytes),
    width: media.width === 0 ? null : media.width,
    height: media.height === 0 ? null : media.height,
    frames: media.frames,
  };
  const plan = planImage(image, rules.image, readImageFit(settings));
  return plan.kind === "rendition" ? plan.rendition : undefined;
}
