/** A request counts as `done` or `refused` even when the caller did not get the response. */
export type RequestOutcome = "pending" | "done" | "refused" | "dropped";

export interface LoggedRequest {
  readonly platform: string;
  readonly method: string;
  readonly path: string;
  readonly operation: string;
  readonly time: number;
  outcome: RequestOutcome;
  readonly account: string | null;
}

const MAX_KEPT_REQUESTS = 200_000;

export class RequestLog {
  #entries: LoggedRequest[] = [];

  open(entry: Omit<LoggedRequest, "outcome">): LoggedRequest {
    const logged: LoggedRequest = { ...entry, outcome: "pending" };
    this.#entries.push(logged);
    if (this.#entries.length > MAX_KEPT_REQUESTS)
      this.#entries = this.#entries.slice(MAX_KEPT_REQUESTS / 2);

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
