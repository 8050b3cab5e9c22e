import { randomUUID } from "node:crypto";
import type { Fault, FaultRule } from "#src/faults/rule.ts";
import type { Store, Table } from "#src/store/store.ts";

interface FaultableRequest {
  readonly platform: string;
  readonly operations: readonly string[];
  readonly method: string;
  readonly path: string;
  readonly account: { readonly externalId: string; readonly username: string } | undefined;
}

export function matchesPath(pattern: string, method: string, path: string): boolean {
  const [wantedMethod = "", wantedPath = ""] = pattern.split(" ", 2);
  return (wantedMethod === "*" || wantedMethod === method) && matchesWildcard(wantedPath, path);
}

function matchesWildcard(pattern: string, text: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop();
  if (tail === undefined) return text === head;
  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length)
    return false;
  let from = head.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return from <= text.length - tail.length;
}

function concernsAccount(fault: Fault, account: FaultableRequest["account"]): boolean {
  if (fault.account === undefined) return true;
  return (
    account !== undefined &&
    (fault.account === account.externalId ||
      fault.account.toLowerCase() === account.username.toLowerCase())
  );
}

function namesOperation(fault: Fault, request: FaultableRequest): boolean {
  if (fault.operation === undefined) return false;
  return fault.operation.includes(" ")
    ? matchesPath(fault.operation, request.method, request.path)
    : request.operations.includes(fault.operation);
}

export function firstMatch(faults: Iterable<Fault>, request: FaultableRequest): Fault | undefined {
  for (const fault of faults)
    if (
      fault.platform === request.platform &&
      fault.remaining > 0 &&
      fault.mode !== "stale_reads" &&
      concernsAccount(fault, request.account) &&
      namesOperation(fault, request)
    )
      return fault;

  return undefined;
}

function staleReads(
  faults: Iterable<Fault>,
  platform: string,
  account: FaultableRequest["account"],
): Fault[] {
  return [...faults].filter(
    (fault) =>
      fault.mode === "stale_reads" &&
      fault.platform === platform &&
      concernsAccount(fault, account),
  );
}

export class Faults {
  readonly #rows: Table<Fault>;

  constructor(store: Store) {
    this.#rows = store.table<Fault>("faults");
  }

  add(rule: FaultRule): Fault {
    const times = rule.times ?? 1;
    const fault: Fault = { id: randomUUID(), ...rule, times, remaining: times, hits: 0 };
    this.#rows.put(fault.id, fault);
    return fault;
  }

  list(platform?: string): Fault[] {
    return [...this.#rows.values()].filter(
      (fault) => platform === undefined || fault.platform === platform,
    );
  }

  forget(id: string): boolean {
    return this.#rows.delete(id);
  }

  forgetAll(platform?: string): number {
    const forgotten = this.list(platform);
    for (const fault of forgotten) this.#rows.delete(fault.id);
    return forgotten.length;
  }

  match(request: FaultableRequest): Fault | undefined {
    const fault = firstMatch(this.#rows.values(), request);
    if (fault !== undefined)
      this.#rows.put(fault.id, {
        ...fault,
        hits: fault.hits + 1,
        remaining: fault.remaining - 1,
      });
    return fault;
  }

  /** A `stale_reads` rule is never used up. */
  readLagMs(platform: string, account: FaultableRequest["account"]): number {
    let lagMs = 0;
    for (const fault of staleReads(this.#rows.values(), platform, account)) {
      this.#rows.put(fault.id, { ...fault, hits: fault.hits + 1 });
      lagMs = Math.max(lagMs, fault.delayMs ?? 0);
    }
    return lagMs;
  }
}
