import { RecoveryService } from "@postrider/contracts/media/v1/recovery_service_pb";
import {
  StorageService,
  type WorkspaceStorage,
} from "@postrider/contracts/media/v1/storage_service_pb";
import { required } from "#src/answers.ts";
import { findText, type Arguments, type Command, type Result } from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import { getWorkspaceId } from "#src/find-account.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

function clientOf(services: Services) {
  return services.client("media", StorageService);
}

function toResult(storage: WorkspaceStorage | undefined): Result {
  const { workspaceId, limitBytes, isDefault, usedBytes, reservedBytes } = required(storage);
  const json = {
    workspaceId,
    limitBytes: Number(limitBytes),
    isDefault,
    usedBytes: Number(usedBytes),
    reservedBytes: Number(reservedBytes),
  };
  const text = formatRecord({
    workspace: workspaceId,
    "limit in bytes": `${limitBytes}${isDefault ? " (default)" : ""}`,
    "used bytes": String(usedBytes),
    "reserved for uploads": String(reservedBytes),
  });
  return { json, text };
}

async function show(services: Services, args: Arguments): Promise<Result> {
  const workspaceId = await getWorkspaceId(services, args);
  const { storage } = await clientOf(services).getStorage({ workspaceId });
  return toResult(storage);
}

function parseLimit(args: Arguments): bigint | undefined {
  const [text, isDefault] = [findText(args, "bytes"), args.values.default === true];
  if ((text === undefined) !== isDefault) throw new UsageError("give either --bytes or --default");
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text))
    throw new UsageError(`--bytes must be a whole number of at most 15 digits, not ${text}`);
  return BigInt(text);
}

async function setLimit(services: Services, args: Arguments): Promise<Result> {
  const limitBytes = parseLimit(args);
  const workspaceId = await getWorkspaceId(services, args);
  const request = { workspaceId, ...(limitBytes === undefined ? {} : { limitBytes }) };
  const { storage } = await clientOf(services).setStorageLimit(request);
  return toResult(storage);
}

/** Makes this deployment the owner of the object store, so that it may delete files in it. */
async function adopt(services: Services): Promise<Result> {
  const { adopted } = await services.client("media", RecoveryService).adoptStore({});
  const text = adopted
    ? "the object store belongs to this deployment now; files that the database does not know are kept for a day"
    : "the object store already belongs to this deployment; nothing changed";
  return { json: { adopted }, text };
}

export const storageCommands: readonly Command[] = [
  {
    words: "storage show",
    synopsis: "WORKSPACE",
    summary: "show how many bytes a workspace stores and may store",
    run: show,
  },
  {
    words: "storage set-limit",
    synopsis: "WORKSPACE --bytes N | --default",
    summary: "set the bytes that a workspace may store; holds for the next upload or import",
    run: setLimit,
  },
  {
    words: "storage adopt",
    synopsis: "",
    summary:
      "take over the object store, whose marker names another deployment or is missing; only if no other deployment uses its files",
    run: adopt,
  },
];
