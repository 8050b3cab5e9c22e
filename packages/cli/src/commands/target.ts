import type { TargetUpdated } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import { required, toInstant } from "#src/answers.ts";
import {
  findText,
  getPositional,
  type Arguments,
  type Command,
  type Result,
} from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import type { Services } from "#src/services.ts";

/**
 * Returns the address at which the operator found the published post; undefined with `--absent`.
 * Throws unless exactly one of the two options is given.
 */
function findLink(args: Arguments): string | undefined {
  const link = findText(args, "published");
  const isAbsent = args.values.absent === true;
  if ((link === undefined) !== isAbsent)
    throw new UsageError("give either --published URL or --absent");
  return link;
}

function toError({ errorCode, errorMessage, errorRetryable }: TargetUpdated) {
  return errorCode === undefined
    ? null
    : { code: errorCode, message: errorMessage ?? "", retryable: errorRetryable };
}

async function resolve(services: Services, args: Arguments): Promise<Result> {
  const publishedUrl = findLink(args);
  const answer = await services.client("delivery", TaskService).resolveTarget({
    targetId: getPositional(args),
    ...(publishedUrl === undefined ? {} : { publishedUrl }),
  });
  const update = required(answer.update);
  const json = {
    id: update.targetId,
    status: update.status,
    externalId: update.externalId ?? null,
    permalink: update.permalink ?? null,
    publishedAt: toInstant(update.publishedAt),
    error: toError(update),
  };
  const text =
    update.status === "published"
      ? `target ${json.id} is published: ${json.permalink ?? "its address is unknown"}`
      : `target ${json.id} is not published; retry its post to send it again`;
  return { json, text };
}

export const targetCommands: readonly Command[] = [
  {
    words: "target resolve",
    synopsis: "ID --published URL | --absent",
    summary:
      "record an outcome that Postrider could not find out: the post is published at URL, or absent from the platform",
    run: resolve,
  },
];
