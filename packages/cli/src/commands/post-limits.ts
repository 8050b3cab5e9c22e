import {
  PostLimitService,
  type PostLimits,
} from "@postrider/contracts/posts/v1/post_limit_service_pb";
import { required } from "#src/answers.ts";
import { findInteger, findText, type Arguments, type Command, type Result } from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import { getWorkspaceId } from "#src/find-account.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

function clientOf(services: Services) {
  return services.client("posts", PostLimitService);
}

function toResult(limits: PostLimits | undefined): Result {
  const { workspaceId, maxDrafts, hasDefaultDrafts, drafts, maxBytes, hasDefaultBytes, bytes } =
    required(limits);
  const json = {
    workspaceId,
    maxDrafts: Number(maxDrafts),
    hasDefaultDrafts,
    drafts: Number(drafts),
    maxBytes: Number(maxBytes),
    hasDefaultBytes,
    bytes: Number(bytes),
  };
  const text = formatRecord({
    workspace: workspaceId,
    "limit of drafts": `${maxDrafts}${hasDefaultDrafts ? " (default)" : ""}`,
    drafts: String(drafts),
    "limit in bytes": `${maxBytes}${hasDefaultBytes ? " (default)" : ""}`,
    "bytes of large posts": String(bytes),
  });
  return { json, text };
}

async function show(services: Services, args: Arguments): Promise<Result> {
  const workspaceId = await getWorkspaceId(services, args);
  const { limits } = await clientOf(services).getPostLimits({ workspaceId });
  return toResult(limits);
}

/** Parses the new limit on bytes; undefined if the option is missing. */
function findBytes(args: Arguments): bigint | undefined {
  const text = findText(args, "bytes");
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw new UsageError(`--bytes must be a whole number of at most 15 digits, not ${text}`);
  return BigInt(text);
}

async function setLimits(services: Services, args: Arguments): Promise<Result> {
  const drafts = findInteger(args, "drafts", 0);
  const bytes = findBytes(args);
  const reset = args.values.default === true;
  const isGiven = drafts !== undefined || bytes !== undefined;
  if (isGiven === reset) throw new UsageError("give --drafts or --bytes, or else --default");
  const workspaceId = await getWorkspaceId(services, args);
  const { limits } = await clientOf(services).setPostLimits({
    workspaceId,
    reset,
    ...(drafts === undefined ? {} : { drafts: BigInt(drafts) }),
    ...(bytes === undefined ? {} : { bytes }),
  });
  return toResult(limits);
}

export const postLimitCommands: readonly Command[] = [
  {
    words: "post-limits show",
    synopsis: "WORKSPACE",
    summary: "show how many drafts and bytes of large posts a workspace stores and may store",
    run: show,
  },
  {
    words: "post-limits set",
    synopsis: "WORKSPACE [--drafts N] [--bytes N] | --default",
    summary:
      "set the drafts and the bytes of large posts that a workspace may store; holds for the next post",
    run: setLimits,
  },
];
