import type { WorkspaceGrant } from "@postrider/contracts/accounts/v1/admission_service_pb";
import { tokensAt } from "@postrider/shared/limits/token-bucket";
import { type RateLimitState, toRateLimitState, WINDOW_MS } from "#src/http/rate-limit.ts";

/** Share of its limit that a workspace may use on credit: what it may make in 3 s. */
const CREDIT_SHARE = 1 / 20;

/** The requests that one workspace may make through this process. README.md explains the rules. */
export class WorkspaceBudget {
  readonly id: string;
  verified = false;
  /** Whether the workspace is being moved to another cell, so that it can only be read. */
  isFrozen = false;
  /** The cell that the workspace was moved to; empty if it is this one's. */
  movedTo = "";
  /** Whether its import has not ended, so that nothing of it can be used. */
  isImporting = false;
  /** When the accounts service was asked for its newest answer about the workspace. */
  askedAt = -Infinity;
  #perMinute = 1;
  /** Requests that the accounts service had left at `#leftAt`. Shown to clients. */
  #left = 0;
  #leftAt = 0;
  #emptyUntil = 0;
  /** Requests of the answer that has just arrived, for the requests that wait for it. */
  #arrived = 0;
  /** When the bucket from which `#arrived` was taken is full again if no more is taken from it. */
  #arrivedFullAt = 0;
  #stock = 0;
  /**
   * When the stock is used up. Until then it is at most what the bucket refills: stock and bucket
   * together never exceed the limit.
   */
  #stockUntil = 0;
  #owed = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** On credit; the next call asks for them. */
  get owed(): number {
    return this.#owed;
  }

  /** Takes over an answer of the accounts service. `keepArrived` must follow. */
  receive(grant: WorkspaceGrant, askedAt: number, now: number): void {
    const repaid = Math.min(this.#owed, grant.granted);
    this.#owed -= repaid;
    this.#arrived += grant.granted - repaid;
    const taken = grant.requestsPerMinute - grant.remaining;
    this.#arrivedFullAt = askedAt + (taken * WINDOW_MS) / grant.requestsPerMinute;
    // Answers may arrive out of order; an older one does not say how many requests are left now.
    if (askedAt < this.askedAt) return;
    this.askedAt = askedAt;
    this.verified = grant.verified;
    this.isFrozen = grant.isFrozen;
    this.movedTo = grant.movedTo;
    this.isImporting = grant.isImporting;
    this.#perMinute = grant.requestsPerMinute;
    this.#left = grant.remaining;
    this.#leftAt = now;
    this.#emptyUntil = grant.remaining > 0 ? 0 : now + grant.emptyForMs;
  }

  /** Admits a request that waited for the answer that has just arrived. */
  takeArrived(): boolean {
    if (this.#arrived < 1) return false;
    this.#arrived -= 1;
    return true;
  }

  /** Puts into stock what no waiting request used. */
  keepArrived(now: number): void {
    const stock = this.#stockAt(now);
    // What was there and what arrives have both melted by the earlier time, so the sum is not too
    // large.
    const later = this.#stockUntil + (this.#arrived * WINDOW_MS) / this.#perMinute;
    this.#stockUntil = stock > 0 ? Math.min(later, this.#arrivedFullAt) : this.#arrivedFullAt;
    this.#stock = stock + this.#arrived;
    this.#arrived = 0;
  }

  takeFromStock(now: number): boolean {
    this.#stock = this.#stockAt(now);
    if (this.#stock < 1) return false;
    this.#stock -= 1;
    return true;
  }

  /** Admits a request that the accounts service has not granted, while it does not answer. */
  takeOnCredit(): boolean {
    if (this.#owed + 1 > Math.max(1, this.#perMinute * CREDIT_SHARE)) return false;
    this.#owed += 1;
    return true;
  }

  /** Whether the accounts service has said that it has nothing to grant yet. */
  isEmpty(now: number): boolean {
    return now < this.#emptyUntil;
  }

  rateLimit(now: number): RateLimitState {
    const size = { capacity: this.#perMinute, windowMs: WINDOW_MS };
    const left = this.isEmpty(now)
      ? 0
      : tokensAt({ tokens: this.#left, at: this.#leftAt }, size, now);
    const held = this.#stockAt(now) + this.#arrived - this.#owed;
    const remaining = Math.min(this.#perMinute, Math.max(0, Math.floor(left + held)));
    return toRateLimitState("workspace", this.#perMinute, remaining);
  }

  retryAfterSeconds(now: number): number {
    return Math.max(1, Math.ceil((this.#emptyUntil - now) / 1000));
  }

  #stockAt(now: number): number {
    const refill = ((this.#stockUntil - now) * this.#perMinute) / WINDOW_MS;
    return Math.max(0, Math.min(this.#stock, refill));
  }
}
