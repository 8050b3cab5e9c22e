import type { Media } from "@postrider/contracts/media/v1/media_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { required } from "#src/answers.ts";
import {
  findInteger,
  findText,
  getPositional,
  getText,
  type Arguments,
  type Command,
  type Result,
} from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

function toResult({ id, kind, fileName, altText, coverMs }: Media): Result {
  const json = {
    id,
    kind,
    fileName,
    altText: altText ?? null,
    coverMs: coverMs === undefined ? null : Number(coverMs),
  };
  const text = formatRecord({
    media: id,
    file: fileName,
    description: altText ?? "none",
    cover: json.coverMs === null ? "chosen by the platform" : `at ${json.coverMs} ms`,
  });
  return { json, text };
}

/** One option sets the field and another one removes it; undefined if neither is given. */
function findChange<T>(
  args: Arguments,
  [set, remove]: readonly [string, string],
  value: T | undefined,
  removed: T,
): T | undefined {
  const isRemoved = args.values[remove] === true;
  if (value !== undefined && isRemoved) throw new UsageError(`give either --${set} or --${remove}`);
  return isRemoved ? removed : value;
}

async function describe(services: Services, args: Arguments): Promise<Result> {
  const time = findInteger(args, "cover-ms", 0);
  const cover = time === undefined ? undefined : BigInt(time);
  const altText = findChange(args, ["alt-text", "no-alt-text"], findText(args, "alt-text"), "");
  const coverMs = findChange(args, ["cover-ms", "no-cover"], cover, -1n);
  if (altText === undefined && coverMs === undefined)
    throw new UsageError("give --alt-text, --no-alt-text, --cover-ms or --no-cover");
  const { media } = await services.client("media", MediaService).updateMedia({
    workspaceId: getText(args, "workspace"),
    id: getPositional(args),
    ...(altText === undefined ? {} : { altText }),
    ...(coverMs === undefined ? {} : { coverMs }),
  });
  return toResult(required(media));
}

export const mediaCommands: readonly Command[] = [
  {
    words: "media describe",
    synopsis: "MEDIA --workspace ID [--alt-text T | --no-alt-text] [--cover-ms N | --no-cover]",
    summary: "set what platforms show to people who do not see a picture, or the cover of a video",
    run: describe,
  },
];
