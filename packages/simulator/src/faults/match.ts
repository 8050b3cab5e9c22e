import type { Fault } from "#src/faults/rule.ts";

/** A request as far as rules look at it. */
export interface Met {
  readonly platform: string;
  readonly operations: readonly string[];
  readonly method: string;
  /** Below the platform's prefix, without the query. */
  readonly path: string;
  readonly account: { readonly externalId: string; readonly username: string } | undefined;
}

/** Whether a call of that method and path is named by `METHOD /path`, where `*` stands for any characters. */
export function matchesPath(pattern: string, method: string, path: string): boolean {
  const [wantedMethod = "", wantedPath = ""] = pattern.split(" ", 2);
  return (wantedMethod === "*" || wantedMethod === method) && matchesWildcard(wantedPath, path);
}

function matchesWildcard(pattern: string, text: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop();
  if (tail === undefined) {
    return text === head;
  }
  if (!text.startsWith(head) || !text.endsWith(tail) || text.length < head.length + tail.length) {
    return false;
  }
  let from = head.length;
  for (const part of rest) {
    const at = text.indexOf(part, from);
    if (at === -1) {
      return false;
    }
    from = at + part.length;
  }
  return from <= text.length - tail.length;
}

function concernsAccount(fault: Fault, account: Met["account"]): boolean {
  if (fault.account === undefined) {
    return true;
  }
  return (
    account !== undefined &&
    (fault.account === account.externalId ||
      fault.account.toLowerCase() === account.username.toLowerCase())
  );
}

function namesOperation(fault: Fault, met: Met): boolean {
  if (fault.operation === undefined) {
    return false;
  }
  return fault.operation.includes(" ")
    ? matchesPath(fault.operation, met.method, met.path)
    : met.operations.includes(fault.operation);
}

/** The first rule, in the order given, that is not used up and names this request. */
export function firstMet(faults: Iterable<Fault>, met: Met): Fault | undefined {
  for (const fault of faults) {
    if (
      fault.platform === met.platform &&
      fault.remaining > 0 &&
      fault.mode !== "stale_reads" &&
      concernsAccount(fault, met.account) &&
      namesOperation(fault, met)
    ) {
      return fault;
    }
  }
  return undefined;
}

/** The `stale_reads` rules that a read of this account feels; the longest lag counts. */
export function staleReads(
  faults: Iterable<Fault>,
  platform: string,
  account: Met["account"],
): Fault[] {
  return [...faults].filter(
    (fault) =>
      fault.mode === "stale_reads" &&
      fault.platform === platform &&
      concernsAccount(fault, account),
  );
}
