import { expect } from "vitest";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { guard, type Ready, signal, type TestPlatform, type Visible } from "./test-platform.ts";
import { unknownCall } from "./unknown-call.ts";

const MINUTE_MS = 60_000;
/**
 * Maximum number of runs of preparation steps in one preparation. When it is reached, another
 * preparation continues with the handles stored so far.
 */
const MAX_RUNS = 40;

/**
 * Creates test data: a publishing call of a minute ago with an unknown outcome. The waits between
 * the searches for its post are as long as in production.
 */
export function callOfLastMinute(given: Partial<UnknownCall> = {}): UnknownCall {
  const calledAt = new Date(Date.now() - MINUTE_MS);
  return unknownCall({ calledAt, timeScale: 1, ...given });
}

type Fault = Readonly<Record<string, unknown>>;

/**
 * Simulated faults of a call in a preparation step. The call makes nothing visible and has to be
 * repeated.
 */
export const STEP_FAULTS: readonly (readonly [string, Fault])[] = [
  ["drop_before", {}],
  ["drop_after_commit", {}],
  ["garbage_body", {}],
  ["status_after_commit", { status: 500 }],
  ["status", { status: 500 }],
];

/**
 * Simulated faults that leave the outcome of a publishing call unknown. Each has the number of
 * publishing calls that it takes until exactly one post exists.
 */
export const VISIBLE_CALL_FAULTS: readonly (readonly [string, Fault, number])[] = [
  ["drop_before", {}, 2],
  ["drop_after_commit", {}, 1],
  ["garbage_body", {}, 1],
  ["status_after_commit", { status: 500 }, 1],
  ["status_after_commit", { status: 429 }, 1],
  ["status", { status: 500 }, 2],
  ["status", { status: 429 }, 2],
  ["status", { status: 404 }, 2],
];

interface Settled {
  readonly outcome: Outcome | Verdict;
  readonly publishCalls: number;
}

/**
 * Publishes a post with a connector of the Graph API, as the delivery service does, until the
 * outcome is known.
 */
export class GraphDriver {
  readonly #platform: TestPlatform;
  readonly #connector: PublishingConnector;

  constructor(platform: TestPlatform, connector: PublishingConnector) {
    this.#platform = platform;
    this.#connector = connector;
  }

  async reconcile(
    publication: Publication,
    handles: Handles,
    given: Partial<UnknownCall> = {},
  ): Promise<Verdict> {
    return await this.#connector.reconcile(publication, handles, callOfLastMinute(given), signal);
  }

  /**
   * Asks the connector whether a post is visible until the connector knows it; instead of waiting,
   * the platform's clock is advanced.
   */
  async judge(publication: Publication, handles: Handles): Promise<Verdict> {
    let looks = 0;
    let waitedMs = 0;
    for (;;) {
      const now = new Date(Date.now() + waitedMs);
      const verdict = await this.reconcile(publication, handles, { looks, now });
      if (verdict.kind !== "look_again") return verdict;
      looks += verdict.isIncomplete === true ? 0 : 1;
      waitedMs += verdict.afterMs;
      await this.#platform.control("POST", "clock", { advanceMs: verdict.afterMs });
    }
  }

  /** Finds out an unknown outcome, and publishes again when the post is proved to be absent. */
  async settle(publication: Publication, before: Handles = {}): Promise<Settled> {
    let handles = before;
    let publishCalls = 0;
    for (;;) {
      const prepared = await this.#prepareAgain(publication, handles);
      ({ handles } = prepared);
      if (prepared.failure !== undefined) return { outcome: prepared.failure, publishCalls };
      const outcome = await this.#connector.publish(publication, handles, guard);
      publishCalls += 1;
      if (outcome.kind !== "unknown" && outcome.kind !== "pending")
        return { outcome, publishCalls };
      const verdict = await this.judge(publication, handles);
      if (verdict.kind === "absent") handles = verdict.handles ?? handles;
      else if (verdict.kind !== "repeat") return { outcome: verdict, publishCalls };
    }
  }

  /**
   * Prepares a post up to five times, each time with the handles stored so far, until all
   * preparation steps are done or the platform refuses one.
   */
  async #prepareAgain(publication: Publication, handles: Handles): Promise<Ready> {
    const run = (before: Handles) =>
      this.#platform.prepare(this.#connector, publication, { handles: before, maxRuns: MAX_RUNS });
    let prepared = await run(handles);
    for (let again = 0; again < 4; again += 1) {
      const steps = this.#connector.steps(publication);
      const isReady = steps.every((step) => step.isDone(prepared.handles));
      if (isReady || prepared.failure?.kind === "refused") break;
      prepared = await run(prepared.handles);
    }
    return prepared;
  }
}

/**
 * Publishes a post, and checks the number of publishing calls and that exactly one post with a
 * known id exists.
 */
export async function expectOnePost(
  { driver, platform }: { readonly driver: GraphDriver; readonly platform: TestPlatform },
  publication: Publication,
  calls: number,
): Promise<Visible | undefined> {
  const { outcome, publishCalls } = await driver.settle(publication);
  const [entry, ...others] = await platform.visible();
  expect(others).toEqual([]);
  expect(["published", "present"]).toContain(outcome.kind);
  expect(outcome).toMatchObject({ externalId: entry?.id });
  expect(publishCalls).toBe(calls);
  return entry;
}
