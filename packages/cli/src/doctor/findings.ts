import type { Finding as FindingMessage } from "@postrider/contracts/operations/v1/diagnostics_service_pb";
import type { Result } from "#src/command.ts";

export interface Finding {
  /** The service or the place that was checked, for example `media` or `this computer`. */
  readonly at: string;
  readonly name: string;
  readonly status: string;
  readonly found: string;
  readonly remedy: string;
  /** Path of the guide in the repository; empty when there is none. */
  readonly guide: string;
}

export function toFinding(at: string, message: FindingMessage): Finding {
  const { name, status, found, remedy, guide } = message;
  return { at, name, status, found, remedy, guide: guide === "" ? "" : `docs/${guide}` };
}

function formatFinding({ at, name, status, found, remedy, guide }: Finding): string {
  const lines = [`${status.padEnd(7)}  ${at}, ${name}: ${found}`];
  const isAction = status !== "ok" && remedy !== "";
  if (isAction) lines.push(`         what to do: ${remedy}${guide === "" ? "" : ` (${guide})`}`);
  return lines.join("\n");
}

export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Order in which findings are printed: failed checks last, at the visible end of a terminal. */
const ORDER = ["ok", "off", "warning", "failed"];

export function toResult(findings: readonly Finding[], further: object = {}): Result {
  const count = (status: string) => findings.filter((each) => each.status === status).length;
  const [failed, warnings] = [count("failed"), count("warning")];
  const sorted = findings.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  const summary = `${countOf(findings.length, "check")}: ${failed} failed, ${countOf(warnings, "warning")}`;
  return {
    json: { ok: failed === 0, failed, warnings, findings, ...further },
    text: [...sorted.map(formatFinding), "", summary].join("\n"),
    exitCode: failed === 0 ? 0 : 1,
  };
}
