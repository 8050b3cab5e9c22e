import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";

type Row = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isOption(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { content, title, privacy, tags = [] } = value;
  const areTags = Array.isArray(tags) && tags.every((tag) => typeof tag === "string");
  return areTags && [content, title, privacy].every(isTextOrAbsent);
}

function isMediaOf(workspaceId: unknown, value: unknown): boolean {
  try {
    const media = fromJson(MediaSchema, value as JsonValue, { ignoreUnknownFields: true });
    return media.id !== "" && media.workspaceId === workspaceId;
  } catch {
    return false;
  }
}

function isPost({ workspace_id: workspaceId, options, media }: Row): boolean {
  const areOptions = isObject(options) && Object.values(options).every(isOption);
  return areOptions && Array.isArray(media) && media.every((each) => isMediaOf(workspaceId, each));
}

function isTarget({ platform, settings, metrics }: Row): boolean {
  const areMetrics =
    metrics === null || (isObject(metrics) && Object.values(metrics).every(isTextOrAbsent));
  return isPlatformId(String(platform)) && (settings === null || isObject(settings)) && areMetrics;
}

/**
 * Whether the service can read a row of an import. What it could not read would fail together with
 * the posts of others, which are read in the same batch. Media of another workspace are refused:
 * the delivery service would publish their files.
 */
export function isReadablePost(table: string, row: Row): boolean {
  if (table === "posts") return isPost(row);
  return table === "targets" ? isTarget(row) : true;
}
