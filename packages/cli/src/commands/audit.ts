import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type AuditActor,
  type AuditEntry,
  AuditService,
  type ListAuditEntriesRequestSchema,
} from "@postrider/contracts/operations/v1/audit_service_pb";
import { AUDIT_ACTIONS, isAuditAction } from "@postrider/shared/audit/actions";
import { isId } from "@postrider/shared/ids";
import { required, toInstant } from "#src/answers.ts";
import { chosenServices } from "#src/chosen-services.ts";
import {
  type Arguments,
  type Command,
  findInstant,
  findInteger,
  findText,
  type Result,
  type Terminal,
} from "#src/command.ts";
import type { ServiceName } from "#src/config.ts";
import { UsageError } from "#src/failures.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

type AuditFilter = Pick<
  MessageInitShape<typeof ListAuditEntriesRequestSchema>,
  "workspaceId" | "actorId" | "action" | "since" | "before" | "newestFirst"
>;

interface AuditPlace {
  readonly at: Date;
  readonly id: string;
}

/**
 * Maximum number of audit entries that one RPC returns. An export holds at most one page of each
 * service in memory.
 */
const PAGE_SIZE = 500;

type PrintedEntry = ReturnType<typeof toPrinted>;

function toPrintedActor({ kind, id, name }: AuditActor) {
  return { kind, id, name: name ?? null };
}

function toPrinted(service: ServiceName, entry: AuditEntry) {
  const { id, action, subjectType, subjectId, details } = entry;
  return {
    id,
    at: toInstant(entry.at) ?? "",
    service,
    workspaceId: entry.workspaceId ?? null,
    actor: toPrintedActor(required(entry.actor)),
    action,
    subject: { type: subjectType, id: subjectId },
    details: JSON.parse(details) as object,
    via: entry.via ?? null,
    requestId: entry.requestId ?? null,
    sourceAddress: entry.sourceAddress ?? null,
  };
}

/** Each page continues after the last entry of the page before. */
async function* readService(
  services: Services,
  service: ServiceName,
  filter: AuditFilter,
  { pageSize, from }: Required<PageOptions>,
): AsyncGenerator<PrintedEntry, void> {
  const client = services.client(service, AuditService);
  let after = from === undefined ? undefined : { at: timestampFromDate(from.at), id: from.id };
  for (;;) {
    const position = after === undefined ? {} : { after };
    const { entries } = await client.listAuditEntries({ ...filter, ...position, limit: pageSize });
    for (const entry of entries) yield toPrinted(service, entry);
    const last = entries.at(-1);
    if (last?.at === undefined || entries.length < pageSize) return;
    after = { at: last.at, id: last.id };
  }
}

interface PageOptions {
  readonly pageSize?: number;
  readonly from?: AuditPlace | undefined;
}

/** Instants are texts of the same length, so comparing the texts compares the times. */
function isBefore(one: PrintedEntry, other: PrintedEntry): boolean {
  return one.at === other.at ? one.id < other.id : one.at < other.at;
}

async function* readAudit(
  services: Services,
  names: readonly ServiceName[],
  filter: AuditFilter,
  { pageSize = PAGE_SIZE, from }: PageOptions = {},
): AsyncGenerator<PrintedEntry, void> {
  const logs = names.map((name) => readService(services, name, filter, { pageSize, from }));
  const heads = await Promise.all(logs.map(async (log) => ({ log, next: await log.next() })));
  for (;;) {
    let first: { log: (typeof logs)[number]; entry: PrintedEntry; index: number } | undefined;
    for (const [index, { log, next }] of heads.entries()) {
      if (next.done === true) continue;
      const isFirst =
        first === undefined || isBefore(next.value, first.entry) !== (filter.newestFirst === true);
      if (isFirst) first = { log, entry: next.value, index };
    }
    if (first === undefined) return;
    yield first.entry;
    heads[first.index] = { log: first.log, next: await first.log.next() };
  }
}

const DEFAULT_LISTED = 50;
const MAX_LISTED = 1_000;

function parseFilter(args: Arguments): AuditFilter {
  const [workspaceId, action] = [findText(args, "workspace"), findText(args, "action")];
  const actorId = findText(args, "key");
  if (action !== undefined && !isAuditAction(action))
    throw new UsageError(`--action must be one of ${AUDIT_ACTIONS.join(", ")}, not ${action}`);
  const [since, before] = [findInstant(args, "since"), findInstant(args, "before")];
  return {
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(actorId === undefined ? {} : { actorId }),
    ...(action === undefined ? {} : { action }),
    ...(since === undefined ? {} : { since: timestampFromDate(since) }),
    ...(before === undefined ? {} : { before: timestampFromDate(before) }),
  };
}

function toCells({ at, actor, action, subject, workspaceId, sourceAddress, via }: PrintedEntry) {
  const who = actor.name ?? actor.id;
  return [
    at,
    action,
    `${subject.type} ${subject.id}`,
    `${actor.kind} ${who}${via === null ? "" : ` (${via})`}`,
    sourceAddress ?? "",
    workspaceId ?? "",
  ];
}

/** Parses the place that a page of the list names as its end: an instant and the id of an entry. */
function parsePlace(text: string | undefined): AuditPlace | undefined {
  if (text === undefined) return undefined;
  const [time = "", id = ""] = text.split("/");
  const at = new Date(time);
  if (Number.isNaN(at.getTime()) || !isId(id))
    throw new UsageError("--after must be what the page before names as its next page");
  return { at, id };
}

async function list(services: Services, args: Arguments): Promise<Result> {
  const limit = findInteger(args, "limit", 1) ?? DEFAULT_LISTED;
  if (limit > MAX_LISTED) throw new UsageError(`--limit must be at most ${MAX_LISTED}`);
  const filter = { ...parseFilter(args), newestFirst: true };
  const entries: PrintedEntry[] = [];
  const options = { pageSize: limit, from: parsePlace(findText(args, "after")) };
  for await (const entry of readAudit(services, chosenServices(args), filter, options)) {
    entries.push(entry);
    if (entries.length === limit) break;
  }
  const last = entries.length < limit ? undefined : entries.at(-1);
  const next = last === undefined ? null : `${last.at}/${last.id}`;
  const headings = ["time", "action", "subject", "actor", "from", "workspace"];
  const table = formatTable(headings, entries.map(toCells), "no entries");
  const text = next === null ? table : `${table}\n\nnext page: --after ${next}`;
  return { json: { entries, next }, text };
}

async function exportLog(
  services: Services,
  args: Arguments,
  terminal: Terminal,
): Promise<undefined> {
  const format = findText(args, "format") ?? "jsonl";
  if (format !== "jsonl") throw new UsageError(`--format must be jsonl, not ${format}`);
  const filter = parseFilter(args);
  for await (const entry of readAudit(services, chosenServices(args), filter))
    await terminal.writeLine(JSON.stringify(entry));
  return undefined;
}

const FILTER_SYNOPSIS =
  "[--workspace W] [--key ID] [--action A] [--since T] [--before T] [--service S]";

export const auditCommands: readonly Command[] = [
  {
    words: "audit list",
    synopsis: `${FILTER_SYNOPSIS} [--limit N] [--after PLACE]`,
    summary: "show the newest entries of the audit log, 50 without --limit",
    run: list,
  },
  {
    words: "audit export",
    synopsis: `${FILTER_SYNOPSIS} [--format jsonl]`,
    summary: "print the whole audit log, oldest entry first, one JSON object per line",
    run: exportLog,
  },
];
