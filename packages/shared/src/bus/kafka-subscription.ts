import { atMost } from "#src/bus/at-most.ts";
import { KafkaMember, type KafkaMemberOptions } from "#src/bus/kafka-member.ts";
import { Watchdog } from "#src/bus/kafka-watchdog.ts";
import { retryDelayMs } from "#src/bus/retry-delay.ts";
import { startLoop, type Loop } from "#src/process/loop.ts";

export interface KafkaSubscriptionOptions extends Omit<
  KafkaMemberOptions,
  "groupId" | "leaveTimeoutMs" | "onCrash" | "onProgress"
> {
  /** So long without progress, while there is something to do, makes the consumer leave and join again. */
  readonly stallMs: number;
  /** The consumer cannot go on in this process. */
  readonly onFatal: (error: unknown) => void;
}

const MAX_PAUSE_MS = 60_000;
/** Longer than any handler may run, shorter than a process is given to end. */
const LEAVE_TIMEOUT_MS = 15_000;
/** Joining takes about a second when the brokers are well. */
const JOIN_GRACE_MS = 3_000;

/** Consumes a topic for a group until disposed of: joins, waiting for the broker as long as it takes, and watches. */
export function startKafkaSubscription(options: KafkaSubscriptionOptions): AsyncDisposable {
  const subscription = new KafkaSubscription(options);
  const { logger, topic, group } = options;
  const loop: Loop = startLoop({
    idleMs: MAX_PAUSE_MS,
    work: () => subscription.turn(),
    onError: (error) => logger.error({ err: error, topic, group }, "consumer failed"),
  });
  return {
    [Symbol.asyncDispose]: async () => {
      const finished = loop[Symbol.asyncDispose]();
      // A member that leaves while it joins is missed by the group only when its session expires: let it join first.
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
  /** A second stall without progress in between: joining again does not help. */
  #hasRejoined = false;

  constructor(options: KafkaSubscriptionOptions) {
    this.#options = options;
    // kafkajs assigns partitions as if all members of a group had the same topics, so each topic has a group of its own.
    this.#groupId = `${options.group}.${options.topic}`;
    this.#watchdog = new Watchdog({ ...options, groupId: this.#groupId });
  }

  /** Joins when there is no member yet, else looks after it; returns when to look again. */
  async turn(): Promise<number> {
    const { stallMs } = this.#options;
    if (this.#member === undefined) return await this.#join();
    if (await this.#watchdog.isStalled(this.#member.assigned)) await this.#rejoin();
    return stallMs / 4;
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
        // A member that was given up may still come to an end of its work.
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
      return stallMs / 4;
    } catch (error) {
      this.#member = undefined;
      this.#failures += 1;
      const delayMs = retryDelayMs(error, this.#failures);
      logger.warn(
        { err: error, topic, group, attempt: this.#failures, delayMs },
        "cannot join the group yet",
      );
      await member[Symbol.asyncDispose]();
      return delayMs;
    }
  }

  async #rejoin(): Promise<void> {
    const { logger, topic, group, onFatal } = this.#options;
    if (this.#hasRejoined) {
      onFatal(new Error(`the consumer of ${topic} is stuck`));
      return;
    }
    logger.error({ topic, group }, "the consumer is stuck: it leaves and joins again");
    this.#hasRejoined = true;
    await this.leave();
    await this.#join();
  }
}
