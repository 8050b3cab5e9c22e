import type { Workspace } from "@postrider/contracts/accounts/v1/workspace_pb";
import type { WorkspaceRemoval } from "@postrider/contracts/accounts/v1/workspace_removal_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { AuditService } from "@postrider/contracts/operations/v1/audit_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { required, toInstant } from "#src/answers.ts";
import {
  type Arguments,
  type Command,
  findInteger,
  findText,
  getPositional,
  type Result,
} from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import { findRemoval, findWorkspace } from "#src/find-workspace.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

const DEFAULT_DAYS = 7;
const MAX_DAYS = 365;
const DAY_SECONDS = 86_400;

function statusOf(
  { deletion, move, isImporting }: Workspace,
  removal: WorkspaceRemoval | undefined,
) {
  if (removal?.isRemoving === true) return "removing";
  if (isImporting) return "importing";
  if (deletion !== undefined) return "stopped";
  if (move === undefined) return "active";
  return move.movedAt === undefined ? "frozen" : "moved";
}

function removalsOf(removal: WorkspaceRemoval | undefined) {
  const services = removal?.services ?? [];
  return services.map(({ service, rows, isDone }) => ({
    service,
    rows: Number(rows),
    done: isDone,
  }));
}

/** What is known of a workspace that does not work, and why. */
function toJson(workspace: Workspace, removal: WorkspaceRemoval | undefined) {
  const { id, name, deletion, move, isImporting } = workspace;
  const stoppedAt = toInstant(deletion?.requestedAt);
  return {
    id,
    name,
    status: statusOf(workspace, removal),
    movesTo: move?.cell ?? null,
    frozenAt: toInstant(move?.frozenAt),
    movedAt: toInstant(move?.movedAt),
    importedAt: isImporting ? stoppedAt : null,
    requestedAt: isImporting ? null : stoppedAt,
    removesAt: toInstant(deletion?.removesAt),
    services: removalsOf(removal),
  };
}

type Shown = ReturnType<typeof toJson>;

/** Nothing for a value that is not known. */
function named(name: string, value: string | null): Record<string, string> {
  return value === null ? {} : { [name]: value };
}

function toResult(json: Shown): Result {
  const services = json.services.map(({ service, rows, done }) => [
    `removed from ${service}`,
    `${rows} rows${done ? ", nothing is left" : ""}`,
  ]);
  const text = formatRecord({
    id: json.id,
    name: json.name,
    status: json.status,
    ...named("moves to the cell", json.movesTo),
    ...named("frozen since", json.frozenAt),
    ...named("moved at", json.movedAt),
    ...named("import begun", json.importedAt),
    ...named("deletion requested", json.requestedAt),
    ...named(
      json.importedAt === null ? "removed from" : "removed if it has not ended by",
      json.removesAt,
    ),
    ...Object.fromEntries(services),
  });
  return { json, text };
}

/** The line of the audit log that stays when nothing else does. */
async function findRemoved(services: Services, id: string): Promise<Result> {
  const { entries } = await services.client("accounts", AuditService).listAuditEntries({
    workspaceId: id,
    action: "workspace.remove",
    newestFirst: true,
    limit: 1,
  });
  const [entry] = entries;
  if (entry === undefined) throw notFound();
  const { removedRows = {} } = JSON.parse(entry.details) as { removedRows?: object };
  const json = { id, status: "removed", removedAt: toInstant(entry.at), removedRows };
  const counts = Object.entries(removedRows).map(([service, rows]) => `${service} ${rows}`);
  const record = { id, status: "removed", at: json.removedAt ?? "", rows: counts.join(", ") };
  return { json, text: formatRecord(record) };
}

async function show(services: Services, args: Arguments): Promise<Result> {
  const id = getPositional(args);
  if (!isId(id)) throw notFound();
  const workspace = await findWorkspace(services, id);
  if (workspace === undefined) return await findRemoved(services, id);
  return toResult(toJson(workspace, await findRemoval(services, id)));
}

/** @throws UsageError if the options contradict each other. */
function parseGrace(args: Arguments): { readonly graceSeconds: bigint; readonly name: string } {
  const days = findInteger(args, "grace-days", 1);
  const name = findText(args, "confirm");
  if (args.values.now !== true) {
    if (name !== undefined) throw new UsageError("--confirm is an option of --now");
    if (days !== undefined && days > MAX_DAYS)
      throw new UsageError(`--grace-days must be at most ${MAX_DAYS}`);
    return { graceSeconds: BigInt((days ?? DEFAULT_DAYS) * DAY_SECONDS), name: "" };
  }
  if (days !== undefined) throw new UsageError("--now and --grace-days exclude each other");
  if (name === undefined)
    throw new UsageError("--now needs --confirm with the name of the workspace");
  return { graceSeconds: 0n, name };
}

async function remove(services: Services, args: Arguments): Promise<Result> {
  const id = getPositional(args);
  const { cancel, status } = args.values;
  if (status === true) return await show(services, args);
  const client = services.client("accounts", WorkspaceService);
  if (cancel === true) {
    const { workspace } = await client.cancelWorkspaceDeletion({ id });
    return toResult(toJson(required(workspace), undefined));
  }
  const { workspace } = await client.deleteWorkspace({ id, ...parseGrace(args) });
  const { json, text } = toResult(toJson(required(workspace), undefined));
  const notes = [
    "Its keys, publishing and webhooks stop within 5 s.",
    `Follow the removal with \`postrider workspace show ${id}\`.`,
  ];
  return { json, text: `${text}\n\n${notes.join(" ")}` };
}

export const workspaceDeletionCommands: readonly Command[] = [
  {
    words: "workspace show",
    synopsis: "ID",
    summary:
      "show whether a workspace works, is stopped, imported, moved or being removed, and how far that is",
    run: show,
  },
  {
    words: "workspace delete",
    synopsis: "ID [--grace-days N] [--now --confirm NAME] [--cancel] [--status]",
    summary:
      "stop a workspace at once and remove everything of it after 7 days, after --grace-days N, or with --now as soon as its calls have ended; --cancel withdraws the request until the removal begins; --status shows how far it is",
    run: remove,
  },
];
