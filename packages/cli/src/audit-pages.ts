import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AuditService,
  type AuditActor,
  type AuditEntry,
  type ListAuditEntriesRequestSchema,
} from "@postrider/contracts/operations/v1/audit_service_pb";
import { required } from "#src/answers.ts";
import type { ServiceName } from "#src/config.ts";
import { toInstant } from "#src/instants.ts";
import type { Services } from "#src/services.ts";

/** The filters and the order in which the audit log is read. */
export type AuditFilter = Pick<
  MessageInitShape<typeof ListAuditEntriesRequestSchema>,
  "workspaceId" | "actorId" | "action" | "since" | "before" | "newestFirst"
>;

/** The place of an entry in the merged log; reading continues after it. */
export interface AuditPlace {
  readonly at: Date;
  readonly id: string;
}

/** Maximum number of audit entries that one RPC returns. An export holds at most one page of each service in memory. */
const PAGE_SIZE = 500;

/** An entry of the audit log as the operator's tool prints it. */
export type PrintedEntry = ReturnType<typeof toPrinted>;

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

/** Reads the audit log of one service page by page; each page continues after the last entry of the page before. */
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
  /** Maximum number of entries that one RPC returns. */
  readonly pageSize?: number;
  /** The entry after which reading begins; undefined for the first entry. */
  readonly from?: AuditPlace | undefined;
}

/**
 * Whether an audit entry is older than another one. Instants are texts of the same length, so comparing the texts
 * compares the times.
 */
function isBefore(one: PrintedEntry, other: PrintedEntry): boolean {
  return one.at === other.at ? one.id < other.id : one.at < other.at;
}

/** Reads the audit logs of several services as one log, in the order of time. */
export async function* readAudit(
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
