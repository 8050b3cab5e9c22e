/** What became of a request: `done` and `refused` say what the platform did, whether or not it could answer. */
export type RequestOutcome = "pending" | "done" | "refused" | "dropped";

export interface LoggedRequest {
  readonly platform: string;
  readonly method: string;
  /** Below the platform's prefix, without the query and without secrets. */
  readonly path: string;
  readonly operation: string;
  /** Platform time, Unix milliseconds. */
  readonly time: number;
  outcome: RequestOutcome;
  readonly account: string | null;
}

const KEPT = 200_000;

/** The latest requests, in memory only. */
export class RequestLog {
  #entries: LoggedRequest[] = [];

  open(entry: Omit<LoggedRequest, "outcome">): LoggedRequest {
    const logged: LoggedRequest = { ...entry, outcome: "pending" };
    this.#entries.push(logged);
    if (this.#entries.length > KEPT) {
      this.#entries = this.#entries.slice(KEPT / 2);
    }
    return logged;
  }

  list(filter: { readonly platform?: string; readonly since?: number }): LoggedRequest[] {
    const since = filter.since ?? 0;
    return this.#entries.filter(
      (entry) =>
        entry.time >= since &&
        (filter.platform === undefined || entry.platform === filter.platform),
    );
  }

  clear(): void {
    this.#entries = [];
  }
}
