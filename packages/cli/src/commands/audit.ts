import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AUDIT_ACTIONS, isAuditAction } from "@postrider/shared/audit/actions";
import { isId } from "@postrider/shared/ids";
import {
  readAudit,
  type AuditFilter,
  type AuditPlace,
  type PrintedEntry,
} from "#src/audit-pages.ts";
import { chosenServices } from "#src/chosen-services.ts";
import {
  findInstant,
  findInteger,
  findText,
  type Arguments,
  type Command,
  type Result,
  type Terminal,
} from "#src/command.ts";
import { UsageError } from "#src/failures.ts";
import type { Services } from "#src/services.ts";
import { formatTable } from "#src/table.ts";

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

const FILTERS = {
  workspace: { type: "string" },
  key: { type: "string" },
  action: { type: "string" },
  since: { type: "string" },
  before: { type: "string" },
  service: { type: "string" },
} as const;
const FILTER_SYNOPSIS =
  "[--workspace W] [--key ID] [--action A] [--since T] [--before T] [--service S]";

/** Commands that read the audit log: who changed what, when and from where. */
export const auditCommands: readonly Command[] = [
  {
    words: "audit list",
    synopsis: `${FILTER_SYNOPSIS} [--limit N] [--after PLACE]`,
    summary: "show the newest entries of the audit log, 50 without --limit",
    options: { ...FILTERS, limit: { type: "string" }, after: { type: "string" } },
    run: list,
  },
  {
    words: "audit export",
    synopsis: `${FILTER_SYNOPSIS} [--format jsonl]`,
    summary: "print the whole audit log, oldest entry first, one JSON object per line",
    options: { ...FILTERS, format: { type: "string" } },
    run: exportLog,
  },
];
