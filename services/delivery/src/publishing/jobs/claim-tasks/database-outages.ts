/**
 * Watches whether the database answers this process. No process can renew its leases during an outage of the database. So after
 * an outage this process first takes over no task whose lease has ended, until the processes that have not crashed have had time
 * to renew their leases. Single failures are not an outage: leases are renewed early enough to outlast them.
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
