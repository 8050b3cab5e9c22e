import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@connectrpc/connect";
import type { Hint, HintService } from "@postrider/contracts/delivery/v1/hint_service_pb";
import type { Logger } from "@postrider/shared/telemetry/logger";

/** Longer than the delivery service waits for hints, also while it opens its bus. */
const TIMEOUT_MS = 15_000;
const RETRY_MS = 2_000;

export interface HintSourceOptions {
  readonly client: Client<typeof HintService>;
  readonly logger: Logger;
  readonly onHints: (hints: readonly Hint[]) => void;
  /** Hints of these workspaces may be missing. */
  readonly onGap: (workspaceIds: Iterable<string>) => void;
}

/**
 * Asks the delivery service for hints, with one call at a time for all open pages of this process,
 * and with none while no page is open.
 */
export class HintSource implements AsyncDisposable {
  readonly #options: HintSourceOptions;
  // Its calls serve all pages for as long as one is open, so they do not carry the deadline of the
  // request that opened the first.
  readonly #outsideRequests = AsyncLocalStorage.snapshot();
  #workspaceIds: ReadonlySet<string> = new Set();
  #cursor = "";
  #loop: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: HintSourceOptions) {
    this.#options = options;
  }

  /**
   * The workspaces that have an open page; without any, it stops asking. A call that waits does not
   * look for a new one, so the new one has a gap until that call ends.
   */
  watch(workspaceIds: ReadonlySet<string>): void {
    this.#workspaceIds = workspaceIds;
    if (workspaceIds.size > 0) this.#loop ??= this.#outsideRequests(() => this.#run());
  }

  async #run(): Promise<void> {
    this.#cursor = "";
    while (this.#workspaceIds.size > 0) await this.#ask();
    this.#loop = undefined;
  }

  async #ask(): Promise<void> {
    const asked = this.#workspaceIds;
    const request = { cursor: this.#cursor, workspaceIds: [...asked] };
    const { client, onHints, onGap, logger } = this.#options;
    try {
      const answer = await client.waitForHints(request, { timeoutMs: TIMEOUT_MS });
      // The first answer says where the hints begin; what changed since the page was opened is
      // missing.
      const isGap = answer.isGap || this.#isFailing || request.cursor === "";
      this.#cursor = answer.cursor;
      this.#isFailing = false;
      onGap(isGap ? this.#workspaceIds : this.#workspaceIds.difference(asked));
      if (answer.hints.length > 0) onHints(answer.hints);
    } catch (error) {
      if (!this.#isFailing)
        logger.warn(
          { err: error },
          "the delivery service does not tell what has changed; open pages of the dashboard read by themselves until it does",
        );
      this.#isFailing = true;
      await sleep(RETRY_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.watch(new Set());
    await this.#loop;
  }
}
