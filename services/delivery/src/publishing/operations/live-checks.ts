import { setMaxListeners } from "node:events";
import type {
  LiveCheckContext,
  LiveCheckJournal,
} from "@postrider/platforms/diagnosis/live/check-context";
import { LEAST_VISIBLE, liveCheckText } from "@postrider/platforms/diagnosis/live/least-visible";
import { runLiveCheck } from "@postrider/platforms/diagnosis/live/run-live-check";
import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import type { PublishingConnectors } from "@postrider/platforms/publishing/registry";
import type { PlatformId } from "@postrider/platforms/registry";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { conflict } from "@postrider/shared/errors";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createSendGuard, type Clocks } from "#src/domain/send-guard.ts";
import { findOwnedIds } from "#src/publishing/db/attempts.ts";
import * as rows from "#src/publishing/db/live-checks.ts";
import type { CheckedAccount } from "./account-diagnosis.ts";
import { parseSettings } from "./parse-settings.ts";

export interface LiveCheckDeps {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly guard: Pick<DeploymentGuard, "isOwn">;
  readonly connectors: PublishingConnectors;
  readonly clocks: Clocks;
  readonly visibleCallMs: number;
  /** Maximum time in milliseconds for which a step waits for the platform. */
  readonly patienceMs: number;
  readonly openPermalink: LiveCheckContext["openPermalink"];
}

/** Runs the live checks of this process. Disposing of it ends their waits; posts that they made are still deleted. */
export class LiveChecks implements AsyncDisposable {
  readonly #deps: LiveCheckDeps;
  readonly #stopping = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(deps: LiveCheckDeps) {
    this.#deps = deps;
    setMaxListeners(0, this.#stopping.signal);
  }

  /**
   * Starts a live check and returns its id.
   *
   * @throws ServiceError `publishing_held` when the data may not publish, `publishing_paused` during a pause.
   */
  async start(checked: CheckedAccount, media: readonly PublicationMedia[]): Promise<string> {
    const { sql, guard } = this.#deps;
    if (!(await guard.isOwn())) throw conflict("publishing_held");
    const id = newId();
    const { workspaceId, id: accountId } = checked.account;
    const { platform } = checked;
    // The last characters of an id are random.
    const text = liveCheckText(id.slice(-8));
    const check = { id, workspaceId, accountId, platform, text };
    if (!(await rows.insertLiveCheck(sql, check))) throw conflict("publishing_paused");
    const run = this.#run(id, this.#toContext(check, checked, media));
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
    return id;
  }

  #toContext(
    { id, accountId, platform, text }: rows.NewLiveCheck,
    { account, credential }: CheckedAccount,
    media: readonly PublicationMedia[],
  ): LiveCheckContext {
    const { sql, connectors, patienceMs, openPermalink } = this.#deps;
    const { externalId, username, accessToken, attributes } = credential;
    const post = LEAST_VISIBLE[platform];
    return {
      connector: connectors[platform],
      publication: {
        targetId: id,
        text,
        title: `Postrider check ${id.slice(-8)}`,
        privacy: "privacy" in post ? post.privacy : undefined,
        tags: [],
        externalId,
        username,
        accessToken,
        attributes,
        media,
        settings: parseSettings(account.settings),
      },
      post,
      journal: this.#openJournal(id, platform),
      isOwned: (externalIds) => findOwnedIds(sql, accountId, externalIds),
      openPermalink,
      patienceMs,
      stopping: this.#stopping.signal,
    };
  }

  #openJournal(id: string, platform: PlatformId): LiveCheckJournal {
    const { sql, guard, clocks, visibleCallMs } = this.#deps;
    const refused = "publishing was paused, or the process stops";
    return {
      addStep: (step) => rows.addLiveCheckStep(sql, id, step),
      keepPost: (post) => rows.updateLivePost(sql, id, post),
      dropPost: () => rows.updateLivePost(sql, id, null),
      beginCall: async () => {
        const mayPublish = !this.#stopping.signal.aborted && (await guard.isOwn());
        if (!mayPublish) return { kind: "refused", message: refused };
        const sendGuard = createSendGuard(clocks, visibleCallMs);
        const calledAt = await rows.beginLiveCall(sql, id, platform);
        if (calledAt === undefined) return { kind: "refused", message: refused };
        const callUntil = new Date(calledAt.getTime() + visibleCallMs);
        return { kind: "granted", guard: sendGuard, calledAt, callUntil };
      },
    };
  }

  async #run(id: string, context: LiveCheckContext): Promise<void> {
    const { sql, logger } = this.#deps;
    try {
      await this.#runSteps(context);
      await rows.endLiveCheck(sql, id);
    } catch (error) {
      logger.error({ err: error, liveCheckId: id }, "a live check could not record its end");
    }
  }

  /** An error of our own code or of the database ends the check; the journal names the post that is left. */
  async #runSteps(context: LiveCheckContext): Promise<void> {
    try {
      await runLiveCheck(context);
    } catch (error) {
      this.#deps.logger.warn({ err: error }, "a live check ended with an error");
      const found = `the check ended with an error: ${error instanceof Error ? error.message : "unknown"}`;
      await context.journal.addStep({ name: "end", status: "failed", found, tookMs: 0 });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#running);
  }
}
