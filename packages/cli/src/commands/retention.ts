import { timestampDate } from "@bufbuild/protobuf/wkt";
import { RetentionService as MediaRetentionService } from "@postrider/contracts/media/v1/retention_service_pb";
import { RetentionService } from "@postrider/contracts/posts/v1/retention_service_pb";
import type { Command, Result } from "#src/command.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

async function show(services: Services): Promise<Result> {
  const answer = await services.client("posts", RetentionService).getRetention({});
  const media = await services.client("media", MediaRetentionService).getRetention({});
  const { days, removable } = answer;
  const oldestAt =
    answer.oldestAt === undefined ? null : timestampDate(answer.oldestAt).toISOString();
  const text = formatRecord({
    "ended posts are removed after": `${days} days`,
    "posts that the next run removes": String(removable),
    "the oldest was created": oldestAt ?? "-",
    "media of ended posts are removed after": media.days === 0 ? "never" : `${media.days} days`,
    "media that the next run removes": `${media.removable} with ${media.bytes} bytes`,
  });
  const ofMedia = { days: media.days, removable: media.removable, bytes: Number(media.bytes) };
  return { json: { days, removable, oldestAt, media: ofMedia }, text };
}

export const retentionCommands: readonly Command[] = [
  {
    words: "retention show",
    synopsis: "",
    summary:
      "show after how many days ended posts and their media are removed, and how many the next run removes",
    run: show,
  },
];
