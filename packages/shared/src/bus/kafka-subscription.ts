import type { Admin, Kafka } from "kafkajs";
import { withAdmin } from "#src/bus/kafka-client.ts";
import { atMost, KafkaMember, type KafkaMemberOptions } from "#src/bus/kafka-member.ts";
import { retryDelayMs } from "#src/bus/retries.ts";
import type { DeploymentGuard } from "#src/deployment/guard.ts";
import type { Sql } from "#src/postgres.ts";
import { type Loop, startLoop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface KafkaSubscriptionOptions extends Omit<
  KafkaMemberOptions,
  "groupId" | "leaveTimeoutMs" | "onProgress"
> {
  /** Without progress for this long while events wait, a consumer joins its group again. */
  readonly stallMs: number;
  /** A consumer of data that belongs to another deployment leaves its group. */
  readonly guard: Pick<DeploymentGuard, "isHeld">;
  /** The consumer cannot continue in this process, which should exit and be restarted. */
  readonly onFatal: (error: unknown) => void;
}

const MAX_PAUSE_MS = 60_000;
const OWNER_MS = 5_000;
/** Longer than any handler may run, shorter than the time in which a process must stop. */
const LEAVE_TIMEOUT_MS = 15_000;
/** Joining takes about a second with healthy brokers. */
const JOIN_GRACE_MS = 3_000;

/** Joins however long the broker takes, and again when the consumer makes no progress. */
export function startKafkaSubscription(options: KafkaSubscriptionOptions): AsyncDisposable {
  const subscription = new KafkaSubscription(options);
  const { logger, topic, group } = options;
  const loop: Loop = startLoop({
    idleMs: MAX_PAUSE_MS,
    work: () => subscription.turn(),
    onError: (error) =>
      logger.error(
        { err: error, topic, group },
        "an event consumer failed with an unexpected error; it continues after a pause",
      ),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      const finished = loop[Symbol.asyncDispose]();
      // A member that leaves while it is still joining would stay a member until its session
      // expires.
      await atMost(finished, JOIN_GRACE_MS);
      await subscription.leave();
      await finished;
    },
  };
}

class KafkaSubscription {
  readonly #options: KafkaSubscriptionOptions;
  readonly #groupId: string;
  readonly #watchdog: Watchdog;
  #member: KafkaMember | undefined;
  #failures = 0;
  /** A second stall is fatal, because rejoining did not help. */
  #hasRejoined = false;

  constructor(options: KafkaSubscriptionOptions) {
    this.#options = options;
    // kafkajs assigns partitions as if all members of a group had the same topics, so each topic
    // needs its own group.
    this.#groupId = `${options.group}.${options.topic}.${options.deploymentId}`;
    this.#watchdog = new Watchdog({ ...options, groupId: this.#groupId });
  }

  /** Returns the milliseconds until the next check. */
  async turn(): Promise<number> {
    const isHeld = await this.#isHeld();
    if (isHeld) await this.leave();
    if (isHeld || isHeld === undefined) return OWNER_MS;
    if (this.#member === undefined) return await this.#join();
    if (await this.#watchdog.isStalled(this.#member.assigned)) await this.#rejoin();
    return this.#checkMs();
  }

  /** Undefined while the database does not answer. */
  async #isHeld(): Promise<boolean | undefined> {
    const { guard, logger, topic, group } = this.#options;
    try {
      return await guard.isHeld();
    } catch (error) {
      logger.debug(
        { err: error, topic, group },
        "the event consumer could not read which deployment the data belongs to; it reads this again after a pause",
      );
      return undefined;
    }
  }

  #checkMs(): number {
    return Math.min(this.#options.stallMs / 4, OWNER_MS);
  }

  async leave(): Promise<void> {
    const member = this.#member;
    this.#member = undefined;
    await member?.[Symbol.asyncDispose]();
  }

  async #join(): Promise<number> {
    const { logger, topic, group, stallMs } = this.#options;
    const member = new KafkaMember({
      ...this.#options,
      groupId: this.#groupId,
      leaveTimeoutMs: Math.min(LEAVE_TIMEOUT_MS, stallMs),
      onProgress: () => {
        // The end of work in a replaced consumer is not progress of the new one.
        if (member !== this.#member) return;
        this.#hasRejoined = false;
        this.#watchdog.touch();
      },
    });
    this.#member = member;
    try {
      await member.join();
      this.#failures = 0;
      this.#watchdog.touch();
      return this.#checkMs();
    } catch (error) {
      this.#member = undefined;
      this.#failures += 1;
      const delayMs = retryDelayMs(error, this.#failures);
      logger.warn(
        { err: error, topic, group, attempt: this.#failures, delayMs },
        "the event consumer could not join its Kafka group; it tries again after a pause",
      );
      await member[Symbol.asyncDispose]();
      return delayMs;
    }
  }

  async #rejoin(): Promise<void> {
    const { logger, topic, group, onFatal } = this.#options;
    if (this.#hasRejoined) {
      onFatal(new Error(`the consumer of ${topic} is stuck, also after rejoining its group`));
      return;
    }
    logger.error(
      { topic, group },
      "the event consumer makes no progress; it leaves its Kafka group and joins it again",
    );
    this.#hasRejoined = true;
    await this.leave();
    await this.#join();
  }
}

interface WatchdogOptions {
  readonly kafka: Kafka;
  readonly sql: Sql;
  readonly logger: Logger;
  readonly groupId: string;
  readonly topic: string;
  readonly stallMs: number;
}

/**
 * Detects a consumer that has silently stopped (kafkajs #1645, #1720 and others): it handled
 * nothing for `stallMs` although events wait and the database answers, and the offsets of its group
 * do not move either.
 */
class Watchdog {
  readonly #options: WatchdogOptions;
  #progressAt = performance.now();
  #committed = "";

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  readonly touch = (): void => {
    this.#progressAt = performance.now();
  };

  get quietMs(): number {
    return performance.now() - this.#progressAt;
  }

  /** `assigned` is undefined before the consumer has joined; then all partitions count. */
  async isStalled(assigned: readonly number[] | undefined): Promise<boolean> {
    if (this.quietMs < this.#options.stallMs) return false;
    const lag = await this.#findLag(assigned);
    if (lag !== undefined && lag.records > 0n && lag.committed === this.#committed) return true;
    this.#committed = lag?.committed ?? "";
    this.touch();
    return false;
  }

  /** Undefined while database or broker do not answer: the consumer then waits, it is not stuck. */
  async #findLag(
    assigned: readonly number[] | undefined,
  ): Promise<{ readonly records: bigint; readonly committed: string } | undefined> {
    try {
      await this.#options.sql`select 1`;
      return await withAdmin(this.#options.kafka, (admin) => this.#readLag(admin, assigned));
    } catch (error) {
      this.#options.logger.debug(
        { err: error },
        "the lag of the Kafka consumer could not be read; the next check tries again",
      );
      return undefined;
    }
  }

  async #readLag(admin: Admin, assigned: readonly number[] | undefined) {
    const { groupId, topic } = this.#options;
    const ends = await admin.fetchTopicOffsets(topic);
    const [group] = await admin.fetchOffsets({ groupId, topics: [topic] });
    const positions = new Map(
      group?.partitions.map(({ partition, offset }) => [partition, offset]),
    );
    let records = 0n;
    for (const { partition, low, high } of ends) {
      if (assigned !== undefined && !assigned.includes(partition)) continue;
      const position = BigInt(positions.get(partition) ?? "-1");
      const start = position < BigInt(low) ? BigInt(low) : position;
      records += BigInt(high) - start;
    }
    return { records, committed: JSON.stringify([...positions]) };
  }
}
