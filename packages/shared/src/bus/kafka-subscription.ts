import { atMost } from "#src/bus/at-most.ts";
import { KafkaMember, type KafkaMemberOptions } from "#src/bus/kafka-member.ts";
import { Watchdog } from "#src/bus/kafka-watchdog.ts";
import { retryDelayMs } from "#src/bus/retry-delay.ts";
import type { DeploymentGuard } from "#src/deployment/guard.ts";
import { startLoop, type Loop } from "#src/process/loop.ts";

export interface KafkaSubscriptionOptions extends Omit<
  KafkaMemberOptions,
  "groupId" | "leaveTimeoutMs" | "onCrash" | "onProgress"
> {
  /**
   * A consumer that makes no progress for this long while events wait leaves its group and joins it
   * again.
   */
  readonly stallMs: number;
  /** The name of the Kafka group ends with it. */
  readonly deploymentId: string;
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

/**
 * Joins the group, however long the broker takes, and joins it again when the consumer makes no
 * progress.
 */
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
        "the event consumer could not read which deployment the data belongs to; it asks again",
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
    const { logger, topic, group, onFatal, stallMs } = this.#options;
    const member = new KafkaMember({
      ...this.#options,
      groupId: this.#groupId,
      leaveTimeoutMs: Math.min(LEAVE_TIMEOUT_MS, stallMs),
      onCrash: onFatal,
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
