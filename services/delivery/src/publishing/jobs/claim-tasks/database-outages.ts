/**
 * No process can renew leases during an outage. So after one, this process first takes over no
 * task, until the other processes have had time to renew theirs. Single failures are no outage:
 * leases are renewed early enough to outlast them.
 */
export class DatabaseOutages {
  readonly #leaseMs: number;
  #hasFailed = false;
  #answeredAt = performance.now();
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(leaseMs: number) {
    this.#leaseMs = leaseMs;
  }

  onFailure(): void {
    this.#hasFailed = true;
  }

  onAnswer(): void {
    const now = performance.now();
    if (this.#hasFailed && now - this.#answeredAt > this.#leaseMs / 3) this.#endedAt = now;
    this.#hasFailed = false;
    this.#answeredAt = now;
  }

  /** Whether tasks may be claimed whose lease ended while they were in work. */
  mayTakeOver(): boolean {
    return performance.now() - this.#endedAt > this.#leaseMs / 2;
  }
}
